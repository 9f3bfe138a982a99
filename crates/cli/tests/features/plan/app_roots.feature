@case-app-roots
Feature: Drift in one of two roots leaves both unchanged

  Scenario: A file of the second root was edited
    Given the plan "work" changes 12 files over 2 folders
    And the file "site/file-3.txt" is changed to "mine"
    When I run "agents plan apply work"
    Then it ends with 4
    And the file "site/file-3.txt" is "mine"
    And the other 11 files are old
