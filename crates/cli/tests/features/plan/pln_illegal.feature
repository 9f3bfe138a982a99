@case-pln-illegal
Feature: An invalid step reports the state of the plan and a remedy

  Scenario: A cancelled plan cannot be applied
    Given the file "a.txt" says:
      """
      one
      two
      three
      four
      five
      """
    And a plan "work" for the project
    When I run "agents plan cancel work"
    And I run "agents plan apply work"
    Then it ends with 4
    And standard error contains "cannot be applied: it is cancelled (given up; recorded changes are kept)"
    And standard error contains "agents plan create"
