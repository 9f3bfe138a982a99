@case-sec-fifo
Feature: Special files are not opened

  Scenario: A FIFO in place of a file to change
    Given a plan "work" for the project
    And a FIFO "pipe"
    When "coder" starts a changeset of "work"
    And I run "agents changeset record {coder} --path pipe --mode 600"
    Then it ends with 4
    And standard error contains "pipe"

  Scenario: A FIFO that appears after the change was recorded
    Given a plan "work" for the project
    And "coder" has changed "a.txt" to "new"
    And a FIFO "a.txt"
    When I run "agents plan apply work"
    Then it ends with 4
    And "a.txt" is still a FIFO
