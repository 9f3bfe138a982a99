@case-ctx-export
Feature: An export changes nothing, and is imported without loss

  Background:
    Given a context "chat" with 3 messages

  Scenario: Exporting leaves the context as it is
    When I run "agents context export chat -o chat.jsonl"
    Then it ends with 0
    And the four files of "chat" are as they were

  Scenario: Export, then import
    Given an export of "chat" in "chat.jsonl"
    When I run "agents context import chat.jsonl --as copy"
    Then it ends with 0
    And "copy" has the messages, the state and the global context of "chat"

  Scenario: The checksum names its algorithm, and the older form is accepted
    Given an export of "chat" in "chat.jsonl"
    Then the last line of "chat.jsonl" has a checksum that begins with "sha256:"
    Given "chat.jsonl" has '"checksum":"' where '"checksum":"sha256:' was
    When I run "agents context import chat.jsonl --as copy"
    Then it ends with 0
    And "copy" has the messages, the state and the global context of "chat"
