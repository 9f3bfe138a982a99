@case-cfg-origin
Feature: Every value has an origin, and get and list agree

  Background:
    Given the global file says:
      """
      plan.concurrency = 2
      x.deep.key = "global"
      """
    And the project file says:
      """
      # shared
      [plan]
      concurrency = 3
      """
    And the local file says:
      """
      x.deep.key = "local"
      """

  Scenario: get names layer, file and line
    When I run "agents config get plan.concurrency --show-origin"
    Then it ends with 0
    And standard output contains "config.toml:3"
    And standard output contains "3"

  Scenario: get shows the value in every layer
    When I run "agents config get plan.concurrency --all-layers"
    Then it ends with 0
    And standard output names the layers "flag, environment, local, project, global, default"

  Scenario: The environment overrides files, a flag overrides the environment
    Given the variable "CLEVERAGENTS_PLAN_CONCURRENCY" is "5"
    When I run "agents config get plan.concurrency"
    Then standard output is "5"
    When I run "agents -c plan.concurrency=7 config get plan.concurrency"
    Then standard output is "7"

  Scenario: get and list agree on every key
    Given the variable "CLEVERAGENTS_CORE_COLOR" is "never"
    Then get and list agree on every key
