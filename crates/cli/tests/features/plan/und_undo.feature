@case-und-undo
Feature: An undo can be undone, and the undo of one actor keeps the others' changes

  Scenario: Undo of undo
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
    And I run "agents plan undo work"
    Then the file "a.txt" is "one,two,three,four,five"
    When the last undo is undone
    Then the file "a.txt" is "new"

  Scenario: One actor's changes
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
    And "writer" has changed "a.txt" to "one,two,three,four,FIVE"
    When I run "agents plan apply work"
    And I run "agents plan undo work --actor writer"
    Then it ends with 0
    And the file "a.txt" is "ONE,two,three,four,five"
