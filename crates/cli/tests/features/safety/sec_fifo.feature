@case-sec-fifo
Feature: What is no file is not opened

  Scenario: A FIFO where a file is to be changed
    Given a plan "work" for the project
    And a FIFO "pipe"
    When "coder" starts a changeset of "work"
    And I run "agents changeset record {coder} --path pipe --mode 600"
    Then it ends with 4
    And standard error contains "pipe"

  Scenario: A FIFO that came after the change was recorded
    Given a plan "work" for the project
    And "coder" has changed "a.txt" to "new"
    And a FIFO "a.txt"
    When I run "agents plan apply work"
    Then it ends with 4
    And "a.txt" is still a FIFO
