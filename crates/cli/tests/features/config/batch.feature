@case-cfg-batch
Feature: Several keys set in one command land together or not at all

  Scenario: All of them are right
    When I run "agents config set core.format=plain plan.concurrency=3 x.team=blue"
    Then it ends with 0
    And the global file says:
      """
      core.format = "plain"
      plan.concurrency = 3
      x.team = "blue"
      """

  Scenario: One of them is wrong
    Given the global file says:
      """
      plan.concurrency = 2 # two
      """
    When I run "agents config set core.format=plain plan.concurrency=many x.team=blue"
    Then it ends with 2
    And the global file is as it was
