@case-app-drift
Feature: A file that a person edited is never overwritten

  Scenario: Edits of other lines are merged on request
    Given the file "a.txt" says:
      """
      one
      two
      three
      four
      five
      """
    And a plan "work" for the project
    And "coder" has changed "a.txt" to "ONE,two,three,four,five"
    And the file "a.txt" is changed to "one,two,three,four,FIVE"
    When I run "agents plan apply work"
    Then it ends with 4
    And the file "a.txt" is "one,two,three,four,FIVE"
    When I run "agents plan apply work --merge-drift"
    Then it ends with 0
    And the file "a.txt" is "ONE,two,three,four,FIVE"

  Scenario: Edits of the same line are a conflict
    Given the file "a.txt" says:
      """
      one
      two
      three
      four
      five
      """
    And a plan "work" for the project
    And "coder" has changed "a.txt" to "ONE,two,three,four,five"
    And the file "a.txt" is changed to "1,two,three,four,five"
    When I run "agents plan apply work --merge-drift"
    Then it ends with 4
    And the file "a.txt" is "1,two,three,four,five"
