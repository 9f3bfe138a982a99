@case-par-base
Feature: The merge base is the content that each actor started from

  Scenario: A person edits the file while the actors work
    Given a project
    And the file "a.txt" says:
      """
      one
      two
      three
      four
      five
      """
    And the file "plan.toml" says:
      """
      [nodes.early]
      run = "sed -i 1s/one/ONE/ a.txt"

      [nodes.late]
      run = "touch $OUT/started; until [ -e $OUT/go ]; do sleep 0.05; done; sed -i 5s/five/FIVE/ a.txt"
      """
    And actors may write to a folder OUT
    When I start "agents run plan.toml --concurrency 2"
    And I wait for "started" in OUT
    And the file "a.txt" is changed to "one,two,THREE,four,five"
    And I put "go" into OUT
    And it ends
    Then it ends with 0
    When I run "agents plan diff @latest"
    Then standard output contains "-one"
    And standard output contains "-five"
    And nothing shows "-THREE"
    When I run "agents plan apply @latest"
    Then it ends with 4
    And the file "a.txt" is "one,two,THREE,four,five"
    When I run "agents plan apply @latest --merge-drift"
    Then it ends with 0
    And the file "a.txt" is "ONE,two,THREE,four,FIVE"
