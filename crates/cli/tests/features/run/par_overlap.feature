@case-par-overlap
Feature: Files that two actors change are reported while they run

  Scenario: Before the merge
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
      [nodes.coder]
      run = "sed -i 1s/one/ONE/ a.txt; until [ -e $OUT/go ]; do sleep 0.05; done"

      [nodes.writer]
      run = "sed -i 5s/five/FIVE/ a.txt; until [ -e $OUT/go ]; do sleep 0.05; done"
      """
    And actors may write to a folder OUT
    When I start "agents run plan.toml --concurrency 2"
    And I wait until it says "overlap: a.txt: "
    And I put "go" into OUT
    And it ends
    Then it ends with 0
