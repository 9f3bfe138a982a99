@case-app-empty
Feature: An apply without changes says so

  Scenario: A plan whose changeset is empty
    Given a plan "work" for the project
    When "coder" starts a changeset of "work"
    And "coder" seals
    And I run "agents plan apply work"
    Then it ends with 3
    And standard error contains "has nothing to apply"
    And standard output is ""
