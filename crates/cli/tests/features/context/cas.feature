@case-ctx-cas
Feature: A conditional write at a stale revision fails

  Background:
    Given a context "chat" with 2 messages

  Scenario Outline: The error has the current revision
    When I run '<command> --if-revision 7'
    Then it ends with 4
    And standard error contains "context `chat` is at revision 1, not 7"
    And the context "chat" is as it was

    Examples:
      | command                                    |
      | agents context append chat --role user new |
      | agents context state set chat {"new":1}    |
      | agents context rewind chat --to 0          |
      | agents context clear chat --yes            |
      | agents context remove chat --yes           |

  Scenario: The current revision is accepted
    When I run "agents context append chat --role user new --if-revision 1"
    Then it ends with 0
    And the context "chat" is new
