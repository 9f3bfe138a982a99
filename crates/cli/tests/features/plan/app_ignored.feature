@case-app-ignored
Feature: Protected folders are never written

  Scenario: An entry that names .git
    Given a plan "work" for the project
    When "coder" starts a changeset of "work"
    And I run "agents changeset record {coder} --path .git/hooks/pre-commit --symlink /bin/true"
    Then it ends with 2
    And standard error contains "`.git` is protected"
