@case-lck-clean
Feature: Removing the transaction folder does no harm

  @needs_strace
  Scenario: It is removed after an apply was killed
    Given the plan "work" changes 12 files over 2 folders
    When "agents plan apply work" is killed in the middle
    And somebody removes ".cleveragents" from the 2 folders
    And I run "agents plan show work"
    Then it ends with 0
    And standard error contains "was interrupted; it is finished now"
    And all 12 files are new

  Scenario: It is removed while another command waits
    Given the plan "work" changes 12 files over 2 folders
    And somebody holds the folder "site"
    When an apply of "work" waits
    And somebody removes ".cleveragents" from the 2 folders
    And they let go
    Then the apply that waited left all 12 files old or all new
