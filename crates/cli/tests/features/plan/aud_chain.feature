@case-aud-chain
Feature: A changed audit trail is found and located

  Scenario: The trail is sound, and one that was cut off is not
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
    When I run "agents audit checkpoint"
    And I run "agents audit verify"
    Then it ends with 0
    When the checkpoint has seen more than there is
    And I run "agents audit verify"
    Then it ends with 1
    And standard output contains "record "
