@case-lck-holder
Feature: A waiting command names the lock and its holder

  Scenario: Another process holds the lock of a root
    Given the plan "work" changes 12 files over 2 folders
    And somebody holds the folder "site"
    When I run "agents plan apply work --lock-timeout 1200ms"
    Then it ends with 5
    And standard error contains "waiting for lock"
    And standard error contains "site/.cleveragents/.txn/lock` is still held by process"
    And the other 12 files are old
    When they let go
    And I run "agents plan apply work"
    Then it ends with 0
    And all 12 files are new
