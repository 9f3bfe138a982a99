@case-ctx-clear
Feature: Clear empties a context, remove deletes it, and both ask for confirmation

  Background:
    Given a context "chat" with 2 messages

  Scenario Outline: Without a terminal, both need --yes
    When I run "<command>"
    Then it ends with 2
    And standard error contains "add --yes to"
    And the context "chat" is as it was

    Examples:
      | command                    |
      | agents context clear chat  |
      | agents context remove chat |

  Scenario: Clear keeps the context
    When I run "agents context clear chat --yes"
    Then it ends with 0
    When I run "agents context list"
    Then standard output contains "chat"
    When I run "agents context show chat"
    Then standard output is ""
    When I run "agents context state get chat"
    Then standard output is "{}"
    And the context "chat" is sound

  Scenario: Remove deletes it
    When I run "agents context remove chat --yes"
    Then it ends with 0
    And there is no folder of "chat"
    When I run "agents context show chat"
    Then it ends with 3
    And standard error contains "there is no context `chat`"
