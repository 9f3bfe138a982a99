@case-cfg-empty
Feature: A file that does not parse is never replaced

  Background:
    Given the project file says:
      """
      plan.concurrency = 3
      plan.merge = = "last-wins"
      """

  Scenario: Setting a key fails with the position
    When I run "agents config set x.a 1 --scope project"
    Then it ends with 1
    And standard error contains "config.toml`, line 2, column 14"
    And the project file is as it was

  Scenario: Unsetting a key fails too
    When I run "agents config unset plan.concurrency --scope project"
    Then it ends with 1
    And the project file is as it was

  Scenario: A key of another file is found, with a warning about the skipped file
    Given the global file says:
      """
      x.a = "mine"
      """
    When I run "agents config get x.a"
    Then it ends with 0
    And standard output is "mine"
    And standard error contains "config.toml`, line 2, column 14"

  Scenario: A default does not replace a value that the file may set
    When I run "agents config get plan.concurrency"
    Then it ends with 1
    And standard output is ""
