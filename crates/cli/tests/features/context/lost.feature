@case-ctx-lost
Feature: Concurrent appends lose no message

  Scenario: Every message is stored, in one order, with one numbering
    Given a context "chat" with 1 messages
    When 8 processes append 5 messages each to "chat"
    Then every append succeeded
    And "chat" has 41 messages, each once, numbered without a gap
    And what a process appended is in its order
    And the context "chat" is sound
