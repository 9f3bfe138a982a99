@case-app-verify
Feature: After an apply every path has its declared content

  Scenario: The report lists every file
    Given the plan "work" changes 12 files over 2 folders
    When I run "agents plan apply work"
    Then it ends with 0
    And standard error contains "applied 12 files"
    And all 12 files are new
