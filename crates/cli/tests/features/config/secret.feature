@case-cfg-secret
Feature: A secret is shown only on request by name

  Background:
    Given the global file says:
      """
      server.url = "https://server.example"
      """

  Scenario: Setting, getting and listing it
    When I run "agents config set server.token --stdin" with input "hunter2"
    Then it ends with 0
    And nothing shows "hunter2"
    When I run "agents config get server.token"
    Then nothing shows "hunter2"
    And standard output is "[REDACTED]"
    When I run "agents config get server.token --all-layers -v"
    Then nothing shows "hunter2"
    When I run "agents config list --show-origin --format json"
    Then nothing shows "hunter2"
    When I run "agents config get server.token --reveal"
    Then standard output is "hunter2"

  Scenario: As an argument it is rejected and not echoed
    When I run "agents config set server.token hunter2"
    Then it ends with 2
    And nothing shows "hunter2"
    And the global file is as it was

  Scenario: A syntax error does not show it either
    Given the global file says:
      """
      server.token = "hunter2" oops
      """
    When I run "agents config list"
    Then it ends with 1
    And nothing shows "hunter2"
