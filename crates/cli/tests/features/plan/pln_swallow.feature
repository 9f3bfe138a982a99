@case-pln-swallow
Feature: Only persisted states are reported

  Scenario: A refused apply is not reported as applied
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
    And the file "a.txt" is changed to "mine"
    When I run "agents plan apply work"
    Then it ends with 4
    And standard output is ""
    When I run "agents plan show work"
    Then standard output contains ": conflict"
