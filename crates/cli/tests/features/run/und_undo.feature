@case-und-undo
Feature: An undo of one actor of a run keeps the others' changes

  Scenario: In the same file
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
      run = "sed -i 1s/one/ONE/ a.txt"

      [nodes.writer]
      run = "sed -i 5s/five/FIVE/ a.txt"
      """
    When I run "agents run plan.toml --apply"
    Then it ends with 0
    When I run "agents plan undo @latest --actor writer --yes"
    Then it ends with 0
    And the file "a.txt" is "ONE,two,three,four,five"
