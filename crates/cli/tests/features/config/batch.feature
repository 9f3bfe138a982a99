@case-cfg-batch
Feature: One command sets several keys, all or none

  Scenario: All values are valid
    When I run "agents config set core.format=plain plan.concurrency=3 x.team=blue"
    Then it ends with 0
    And the global file says:
      """
      core.format = "plain"
      plan.concurrency = 3
      x.team = "blue"
      """

  Scenario: One value is invalid
    Given the global file says:
      """
      plan.concurrency = 2 # two
      """
    When I run "agents config set core.format=plain plan.concurrency=many x.team=blue"
    Then it ends with 2
    And the global file is as it was
