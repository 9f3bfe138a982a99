@case-sec-perm
Feature: Files of the program are private

  Scenario: With an empty umask
    Given a umask that takes nothing away
    And the plan "work" changes 12 files over 2 folders
    When I run "agents plan apply work"
    Then it ends with 0
    When I run "agents context create chat"
    And I run "agents config set core.color never"
    And I run "agents audit checkpoint"
    Then everything of ours is for its owner alone

  @needs_strace
  Scenario: Staged content of a killed apply
    Given a umask that takes nothing away
    And the plan "work" changes 12 files over 2 folders
    When "agents plan apply work" is killed in the middle
    Then everything of ours is for its owner alone
