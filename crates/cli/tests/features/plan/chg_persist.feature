@case-chg-persist
Feature: Other processes see a changeset as soon as it starts

  Scenario: It is listed before the first entry
    Given a plan "work" for the project
    When "coder" starts a changeset of "work"
    And I run "agents changeset list work"
    Then it ends with 0
    And standard output contains "coder        0  open"
    When I run "agents changeset show {coder}"
    Then standard output contains "in plan"
