@case-ctx-import
Feature: A failed import leaves the existing context unchanged

  Background:
    Given a context "chat" with 2 messages
    And an export of "chat" in "chat.jsonl"

  Scenario Outline: The error is reported, and nothing changes
    Given "chat.jsonl" <damage>
    When I run "agents context import chat.jsonl --as chat --replace"
    Then it ends with 1
    And standard error contains "<told>"
    And the context "chat" is as it was
    And no temporary file is left in "chat"

    Examples:
      | damage                                  | told                     |
      | has 'm7' where 'm0' was                 | its checksum is sha256:  |
      | is cut in the middle                    | it ends after line       |
      | has '"roll":' where '"role":' was       | line 5 is invalid        |
      | has '"version":9' where '"version":1' was | version 9              |
      | has 'plain text' and nothing else       | it is not an archive     |

  Scenario: The content determines the format, not the file name
    Given a file "talk.txt" that has '[{"role":"user","content":"hello"}]'
    When I run "agents context import talk.txt --as talk"
    Then it ends with 0
    When I run "agents context show talk"
    Then standard output contains "hello"
