@case-aud-chain
Feature: Tampering with the audit trail is detected and located

  Scenario: A complete trail is valid, a truncated one is not
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
