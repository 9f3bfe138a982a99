@case-app-partial
Feature: An apply changes all files or none

  Scenario: The apply is killed after some files
    Given the plan "work" changes 12 files over 2 folders
    When "agents plan apply work" is killed in the middle
    And I run "agents plan show work"
    Then it ends with 0
    And standard error contains "was interrupted; it is finished now"
    And all 12 files are new
