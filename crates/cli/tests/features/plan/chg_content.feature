@case-chg-content
Feature: A diff shows real hunks and counts

  Scenario: Text and binary files
    Given the file "a.txt" says:
      """
      one
      two
      three
      four
      five
      """
    And a plan "work" for the project
    And "coder" has changed "a.txt" to "one"
    And "packer" has changed "data.bin" to bytes
    When I run "agents plan diff work"
    Then standard output contains "-two"
    And standard output contains "GIT binary patch"
    When I run "agents plan diff work --stat"
    Then standard output contains "binary, 0 B -> 4 B"
    And standard output contains "2 files changed"
