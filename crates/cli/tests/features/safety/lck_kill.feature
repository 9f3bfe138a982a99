@case-lck-kill
Feature: A killed lock holder blocks no other process

  @needs_strace
  Scenario: Many commands after a killed apply
    Given the plan "work" changes 12 files over 2 folders
    When "agents plan apply work" is killed in the middle
    And 4 processes run "agents plan show work" at once
    Then nobody was told that the database is locked
    When I run "agents plan show work"
    Then it ends with 0
    And all 12 files are new

  @needs_strace
  Scenario: A changeset whose holder was killed is taken over at once
    Given a plan "work" for the project
    When "coder" starts a changeset of "work"
    Then wherever a record of "coder" is killed the next one waits for nobody
    When "coder" seals
    And I run "agents audit verify"
    Then it ends with 0
