@case-cfg-format
Feature: The variable for the output format has lower precedence than the flag

  Background:
    Given the global file says:
      """
      x.a = 1
      """
    And the variable "CLEVERAGENTS_CORE_FORMAT" is "json"

  Scenario: The variable sets the format
    When I run "agents config get x.a"
    Then it ends with 0
    And standard output is a JSON envelope

  Scenario: The flag overrides the variable
    When I run "agents --format plain config get x.a"
    Then it ends with 0
    And standard output is "1"
