@case-chg-closed
Feature: Writes of an actor after its timeout are ignored

  Scenario: A child that left the process group
    Given a project
    And the file "plan.toml" says:
      """
      [nodes.slow]
      run = "setsid sh -c 'echo $$ > $OUT/child; while :; do echo late > late.txt; sleep 0.05; done' & wait"
      timeout = "2s"
      """
    And actors may write to a folder OUT
    When I run "agents run plan.toml"
    Then it ends with 1
    And no process of "child" in OUT is left
    When I run "agents plan apply @latest"
    Then it ends with 3 or 4
    And there is no file "late.txt"
