@case-lck-disjoint
Feature: Work on other roots does not wait

  Scenario: Another process holds the lock of another root
    Given a folder "app"
    And a folder "site"
    And somebody holds the folder "app"
    When I run "agents plan create --name work --root site"
    And "coder" starts a changeset of "work"
    And "coder" records "a.txt" as "new"
    And "coder" seals
    And I run "agents plan apply work --lock-timeout 0s"
    Then it ends with 0
    And nothing shows "waiting"
    And the file "site/a.txt" is "new"
