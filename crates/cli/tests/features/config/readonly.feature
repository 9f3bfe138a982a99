@case-cfg-readonly
Feature: A failed write reports the reason and keeps the old file

  Background:
    Given the global file says:
      """
      x.a = 1
      """

  Scenario: A read-only file
    Given the global file is read-only
    When I run "agents config set x.a 2"
    Then it ends with 1
    And standard error contains "read-only"
    And the global file is as it was

  Scenario: A read-only folder
    Given the home folder is read-only
    When I run "agents config set x.a 2"
    Then it ends with 1
    And standard error contains "read-only"
    And the global file is as it was

  Scenario: A home folder that cannot be created
    When I run "agents --home /no/such/folder/home config set x.a 2"
    Then it ends with 3
    And standard error contains "/no/such/folder"

  Scenario: No home folder
    Given nobody says where the home folder is
    When I run "agents config set x.a 2 --scope global"
    Then it ends with 3
    And standard error contains "CLEVERAGENTS_HOME"

  @needs_mount
  Scenario: A full disk
    Given the home folder is on a disk with no room
    When I run "agents config set x.a 2"
    Then it ends with 1
    And standard error contains "No space left"
    And the global file is as it was
