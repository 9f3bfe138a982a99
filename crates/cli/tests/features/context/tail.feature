@case-ctx-tail
Feature: A torn last line is reported and preserved; the rest loads

  Background:
    Given a context "chat" with 3 messages
    And the last line of "chat" is cut by 5 bytes

  Scenario: Reading reports it and changes nothing
    When I run "agents context show chat"
    Then it ends with 0
    And standard error contains "line 3 of the messages of context `chat` is torn"
    And standard output contains "m0"
    And standard output contains "m1"
    And nothing shows "m2"
    And the four files of "chat" are as they were

  Scenario: The next write moves it to another file
    When I run "agents context append chat --role user next"
    Then it ends with 0
    And standard error contains "messages.jsonl.torn"
    And "messages.jsonl.torn" of "chat" has the line that was cut
    And the context "chat" is sound
    When I run "agents context show chat"
    Then standard output contains "m1"
    And standard output contains "next"
