@case-cln-keep
Feature: Prune keeps plans that were not applied

  Scenario: Force removes a named plan
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
    When I run "agents plan prune --yes"
    Then standard error contains "keeps 1 plan: not applied"
    When I run "agents plan prune work --yes"
    Then it ends with 4
    When I run "agents plan prune work --force --yes"
    Then it ends with 0
