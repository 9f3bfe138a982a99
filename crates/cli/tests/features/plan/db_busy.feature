@case-db-busy
Feature: Processes on one store never see that it is locked

  Scenario: Many at once
    Given a plan "work" for the project
    When 8 actors of "work" record 3 files of their own each, all at once
    Then nobody was told that the database is locked
