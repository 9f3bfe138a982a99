@case-cfg-interp
Feature: A reference to an unset variable is an error

  Background:
    Given the global file says:
      """
      x.bare = "to ${WHERE_TO}"
      x.default = "to ${WHERE_TO:nowhere}"
      """

  Scenario: Unset and without a default
    When I run "agents config get x.bare"
    Then it ends with 1
    And standard output is ""
    And standard error contains "WHERE_TO"

  Scenario: Unset, with a default
    When I run "agents config get x.default"
    Then standard output is "to nowhere"

  Scenario: Set
    Given the variable "WHERE_TO" is "the moon"
    When I run "agents config get x.bare"
    Then standard output is "to the moon"
