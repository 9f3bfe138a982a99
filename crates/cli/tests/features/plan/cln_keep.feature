@case-cln-keep
Feature: Clean-up keeps work that was not applied

  Scenario: It goes only when its plan is named and forced
    Given the file "a.txt" says:
      """
      one
      two
      three
      four
      five
      """
    And a plan "work" for the project
    And "coder" has changed "a.txt" to "new"
    When I run "agents plan clean --yes"
    Then standard output contains "1 plan with work that was not applied kept"
    When I run "agents plan clean work --yes"
    Then it ends with 4
    When I run "agents plan clean work --force --yes"
    Then it ends with 0
