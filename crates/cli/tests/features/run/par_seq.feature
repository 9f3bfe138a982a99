@case-par-seq
Feature: Actors that edit different lines of one file at the same time

  Scenario Outline: Both edits are kept, regardless of which actor finishes first
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
      run = "sed -i 1s/one/ONE/ a.txt; until [ -e $OUT/<coder-waits-for> ]; do sleep 0.05; done; touch $OUT/coder"

      [nodes.writer]
      run = "sed -i 5s/five/FIVE/ a.txt; until [ -e $OUT/<writer-waits-for> ]; do sleep 0.05; done; touch $OUT/writer"
      """
    And actors may write to a folder OUT, in which there is "nothing"
    When I run "agents run plan.toml --concurrency 2 --apply"
    Then it ends with 0
    And the file "a.txt" is "ONE,two,three,four,FIVE"

    Examples:
      | coder-waits-for | writer-waits-for |
      | nothing         | coder            |
      | writer          | nothing          |
