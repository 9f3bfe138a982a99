@case-chg-foreign
Feature: A changeset accepts only changes in the roots of its plan

  Scenario: A folder that is not a root of the plan
    Given a plan "work" for the project
    When "coder" starts a changeset of "work"
    And I run "agents changeset record {coder} --path x --delete --root ../elsewhere"
    Then it ends with 2
    And standard error contains "is not a root of plan"
