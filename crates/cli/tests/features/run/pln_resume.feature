@case-pln-resume
Feature: A killed run can be resumed

  Scenario: Finished nodes are not run again, others are
    Given a project
    And the file "plan.toml" says:
      """
      name = "work"

      [nodes.first]
      run = "echo ran >> $OUT/first; echo one > one.txt"

      [nodes.second]
      run = "echo $$ > $OUT/parent; echo ran >> $OUT/second; cat one.txt > two.txt; until [ -e $OUT/go ]; do sleep 0.05; done"
      needs = ["first"]
      """
    And actors may write to a folder OUT
    When I start "agents run plan.toml"
    And I wait for "second" in OUT
    And it is killed
    And I run "agents plan list"
    Then standard output contains "running"
    When I put "go" into OUT
    And I run "agents run --no-tty --name other -- true"
    Then standard error contains "agents run --resume"
    When I run "agents run --resume work"
    Then it ends with 0
    And no process of "parent" in OUT is left
    And the file "first" in OUT is "ran"
    And the file "second" in OUT is "ran,ran"
    When I run "agents plan apply work"
    Then it ends with 0
    And the file "one.txt" is "one"
    And the file "two.txt" is "one"
