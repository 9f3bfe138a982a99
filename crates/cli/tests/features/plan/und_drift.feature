@case-und-drift
Feature: An undo refuses files that changed since the apply, and names who changed them

  Scenario: Another plan, and another program
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
    When I run "agents plan apply work"
    And the file "a.txt" is changed to "mine"
    And I run "agents plan undo work"
    Then it ends with 4
    And standard error contains "`a.txt` was changed outside of any plan"
    And the file "a.txt" is "mine"
