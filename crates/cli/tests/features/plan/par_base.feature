@case-par-base
Feature: The merge base is the content that each actor started from

  Scenario: The file changed before the second actor started
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
    And "coder" records "a.txt" as "ONE,two,three,four,five"
    And the file "a.txt" is changed to "one,two,three,four,five,six"
    And "writer" starts a changeset of "work"
    And "writer" records "a.txt" as "one,two,three,four,five,SIX"
    And "coder" seals
    And "writer" seals
    And I run "agents plan diff work"
    Then standard output contains "+ONE"
    And standard output contains "+SIX"
    And nothing shows "-two"
