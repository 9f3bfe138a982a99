@case-ctx-torn
Feature: After any interruption all four files are old or all four are new

  @tdd_issue @tdd_issue_7213 @needs_strace @killed
  Scenario: A save is killed at every call that changes something
    Given a context whose four files all say 1
    When a save of 2 is killed at every call that changes something
    Then every kill left four files that say 1 or four that say 2
    And no save that was acknowledged is lost
    And nothing is left behind after the next save

  @tdd_issue @tdd_issue_7213 @needs_strace
  Scenario Outline: A write that fails before the commit point leaves all four unchanged
    Given a context "chat" with 2 messages
    When I run '<command>' while writing ".txn/journal" fails with "<error>"
    Then it ends with 6
    And standard error contains "context `chat`"
    And standard error contains "<told>"
    And the four files of "chat" are as they were
    And the context "chat" is as it was
    And no temporary file is left in "chat"

    Examples:
      | command                                     | error  | told               |
      | agents context append chat --role user new  | EIO    | Input/output error |
      | agents context append chat --role user new  | ENOSPC | No space left      |
      | agents context state set chat {"new":true}  | EIO    | Input/output error |
      | agents context global set chat {"new":true} | ENOSPC | No space left      |
      | agents context clear chat --yes             | EIO    | Input/output error |

  @tdd_issue @tdd_issue_7213 @needs_strace
  Scenario Outline: After a write that fails behind the commit point, every reader sees all four new
    Given a context "chat" with 2 messages
    When I run '<command>' while writing "<file>" fails with "EIO"
    Then it ends with 0
    And standard error contains "chat is saved, but not all files are written"
    And the context "chat" is new
    When I run "agents context append chat --role user next"
    Then it ends with 0
    And no temporary file is left in "chat"
    And the context "chat" is sound

    Examples:
      | file                | command                                     |
      | messages.jsonl      | agents context append chat --role user new  |
      | metadata.json       | agents context append chat --role user new  |
      | state.json          | agents context state set chat {"new":true}  |
      | global_context.json | agents context global set chat {"new":true} |
      | messages.jsonl      | agents context clear chat --yes             |
      | metadata.json       | agents context clear chat --yes             |
      | state.json          | agents context clear chat --yes             |
      | global_context.json | agents context clear chat --yes             |
