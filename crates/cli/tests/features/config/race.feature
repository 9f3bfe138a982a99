@case-cfg-race
Feature: Concurrent writers of one file lose no update

  @tdd_issue @tdd_issue_7106
  Scenario: Every process sets its own keys
    Given the global file has 200 keys with comments
    When 8 processes set 10 keys of their own each
    Then every set succeeded
    And every key that was set has its value
    And everything else in the global file is as it was

  Scenario: All processes set the same key
    Given the global file has 200 keys with comments
    When 8 processes set "x.w.w-same" 5 times each
    Then every set succeeded
    And "x.w.w-same" has the last value of some process
    And everything else in the global file is as it was
