@case-sec-bomb
Feature: Limits are enforced, and large files need little memory

  Scenario: A path through too many folders
    Given a plan "work" for the project
    When "coder" starts a changeset of "work"
    And "coder" records a path through 3000 folders
    Then it ends with 2
    And standard error contains "more than 4096 bytes"

  Scenario: A file larger than the memory limit
    Given a plan "work" for the project
    And a file "large" of 160 MiB
    And 96 MiB of memory
    When "coder" starts a changeset of "work"
    And I run "agents changeset record {coder} --path large.bin --content large"
    Then it ends with 0
    When "coder" seals
    And I run "agents plan apply work"
    Then it ends with 0
    And "large.bin" is the same as "large"
