@case-app-drift
Feature: A file that a person edited is never overwritten

  Scenario: Merged when the edits are in other lines and merging was asked for
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

  Scenario: A conflict when the edits are in the same line
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
