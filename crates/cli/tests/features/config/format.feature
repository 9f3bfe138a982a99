@case-cfg-format
Feature: The variable for the output format counts, below the flag

  Background:
    Given the global file says:
      """
      x.a = 1
      """
    And the variable "CLEVERAGENTS_CORE_FORMAT" is "json"

  Scenario: The variable decides
    When I run "agents config get x.a"
    Then it ends with 0
    And standard output is a JSON envelope

  Scenario: The flag is above it
    When I run "agents --format plain config get x.a"
    Then it ends with 0
    And standard output is "1"
