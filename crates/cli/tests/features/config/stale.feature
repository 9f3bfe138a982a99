@case-cfg-stale
Feature: A long-lived process changes only its own key

  Scenario: Later changes of others stay
    Given the global file says:
      """
      x.mine = 1
      x.theirs = 1 # theirs
      """
    And a process that read the file and lives on
    When I run "agents config set x.theirs 2"
    And I run "agents config set x.new 3"
    And the process that lives on sets "x.mine" to "4"
    Then the global file says:
      """
      x.mine = 4
      x.theirs = 2 # theirs
      x.new = 3
      """
