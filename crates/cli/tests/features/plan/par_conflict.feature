@case-par-conflict
Feature: Edits of the same lines are a conflict that names both actors

  Scenario: The user chooses one side
    Given the file "a.txt" says:
      """
      one
      two
      three
      four
      five
      """
    And a plan "work" for the project
    And "coder" has changed "a.txt" to "1,two,three,four,five"
    And "writer" has changed "a.txt" to "I,two,three,four,five"
    When I run "agents plan apply work"
    Then it ends with 4
    And standard error contains "`a.txt`: lines at line 1, by coder and writer"
    And the file "a.txt" is "one,two,three,four,five"
    When I run "agents plan conflicts work"
    Then it ends with 4
    And standard output contains "writer: I"
    When I run "agents plan resolve work a.txt --take writer"
    And I run "agents plan apply work"
    Then it ends with 0
    And the file "a.txt" is "I,two,three,four,five"
