@case-par-seq
Feature: Edits of different lines of one file are both kept

  Scenario Outline: Regardless of which actor finishes first
    Given the file "a.txt" says:
      """
      one
      two
      three
      four
      five
      """
    And a plan "work" for the project
    When "coder" starts a changeset of "work"
    And "writer" starts a changeset of "work"
    And "coder" records "a.txt" as "ONE,two,three,four,five"
    And "writer" records "a.txt" as "one,two,three,four,FIVE"
    And "<first>" seals
    And "<second>" seals
    And I run "agents plan apply work"
    Then it ends with 0
    And the file "a.txt" is "ONE,two,three,four,FIVE"

    Examples:
      | first  | second |
      | coder  | writer |
      | writer | coder  |
