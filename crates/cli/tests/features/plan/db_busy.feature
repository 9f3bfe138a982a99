@case-db-busy
Feature: Concurrent processes never fail because the store is locked

  Scenario: Many processes at once
    Given a plan "work" for the project
    When 8 actors of "work" record 3 files of their own each, all at once
    Then nobody was told that the database is locked
