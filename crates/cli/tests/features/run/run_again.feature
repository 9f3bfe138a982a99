@case-run-again
Feature: Running a plan file again keeps the first run's plan

  Scenario: Both plans can be reviewed and applied
    Given a project
    And the file "plan.toml" says:
      """
      name = "work"

      [nodes.coder]
      run = "echo $WORD > made.txt"
      """
    And the variable "WORD" is "first"
    When I run "agents run plan.toml"
    Then it ends with 0
    Given the variable "WORD" is "second"
    When I run "agents run plan.toml"
    Then it ends with 0
    When I run "agents plan diff work"
    Then standard output contains "+first"
    When I run "agents plan diff @latest"
    Then standard output contains "+second"
    When I run "agents plan apply work"
    Then it ends with 0
    And the file "made.txt" is "first"
