@case-cln-keep
Feature: Prune keeps runs that were not applied

  Scenario: Prune removes an applied plan and its sandboxes
    Given a project
    And the file "plan.toml" says:
      """
      name = "work"

      [nodes.coder]
      run = "echo new > made.txt"
      """
    When I run "agents run plan.toml"
    And I run "agents plan prune --yes"
    Then standard error contains "keeps 1 plan: not applied"
    When I run "agents plan prune work --yes"
    Then it ends with 4
    When I run "agents plan apply work"
    Then it ends with 0
    And the file "made.txt" is "new"
    When I run "agents plan prune --yes"
    Then standard error contains "removed 1 plan"
    And no copies of actors are left
