@case-chg-race
Feature: Every change is attributed to the actor who recorded it

  @tdd_issue @tdd_issue_7120
  Scenario: Actors that start, record and seal at the same time
    Given a plan "work" for the project
    When 8 actors of "work" record 5 files of their own each, all at once
    Then every changeset of "work" holds 5 files of its own actor and no others
    And I run "agents plan show work"
    And standard output contains ": ready"

  Scenario: Starting a second changeset does not redirect the first
    Given a plan "work" for the project
    When "coder" starts a changeset of "work"
    And "writer" starts a changeset of "work"
    And "coder" records "c.txt" as "by coder"
    And "writer" records "w.txt" as "by writer"
    And "coder" records "d.txt" as "by coder"
    And I run "agents changeset show {coder}"
    Then standard output contains "c.txt"
    And standard output contains "d.txt"
    And nothing shows "w.txt"
