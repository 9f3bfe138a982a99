@case-chg-closed
Feature: Sealed changesets refuse late entries

  Scenario: An actor writes after its changeset was sealed
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
    When I run "agents changeset record {coder} --path a.txt --delete"
    Then it ends with 4
    And standard error contains "is sealed"
