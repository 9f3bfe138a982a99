@case-cln-keep
Feature: Clean-up keeps the work of a run that was not applied

  Scenario: It goes only when its plan is named and forced
    Given a project
    And the file "plan.toml" says:
      """
      name = "work"

      [nodes.coder]
      run = "echo new > made.txt"
      """
    When I run "agents run plan.toml"
    And I run "agents plan clean --yes"
    Then standard output contains "1 plan with work that was not applied kept"
    When I run "agents plan clean work --yes"
    Then it ends with 4
    When I run "agents plan apply work"
    Then it ends with 0
    And the file "made.txt" is "new"
    When I run "agents plan clean --yes"
    Then standard output contains "1 plan removed"
    And no copies of actors are left
