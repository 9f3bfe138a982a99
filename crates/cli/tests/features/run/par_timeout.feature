@case-par-timeout
Feature: A timeout ends an actor and all its processes

  Scenario: Later writes do not count
    Given a project
    And the file "plan.toml" says:
      """
      [nodes.slow]
      run = "trap '' TERM; echo early > early.txt; sh -c 'trap \"\" TERM; echo $$ > $OUT/child; sleep 600' & echo $$ > $OUT/parent; wait"
      timeout = "2s"
      """
    And actors may write to a folder OUT
    When I run "agents run plan.toml"
    Then it ends with 1
    And said contains "timed out"
    And no process of "parent, child" in OUT is left
    And there is no file "early.txt"
    When I run "agents plan apply @latest"
    Then it ends with 3 or 4
    And there is no file "early.txt"
