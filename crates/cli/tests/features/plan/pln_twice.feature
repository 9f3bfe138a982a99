@case-pln-twice
Feature: One plan is applied once

  Scenario: Two processes apply the same plan
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
    When 2 processes run "agents plan apply work" at once
    Then one of them ended with 0 and the others with 4
    And the file "a.txt" is "new"
