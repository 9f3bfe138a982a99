@case-par-conflict
Feature: Actors that edit the same lines at the same time

  Scenario: The conflict names both, nothing is applied, the user chooses one side
    Given a project
    And the file "a.txt" says:
      """
      one
      two
      three
      """
    And the file "plan.toml" says:
      """
      [nodes.coder]
      run = "sed -i 2s/two/coded/ a.txt"

      [nodes.writer]
      run = "sed -i 2s/two/written/ a.txt"
      """
    When I run "agents run plan.toml --apply"
    Then it ends with 4
    And standard error contains "`a.txt`: lines at line 2, by coder and writer"
    And the file "a.txt" is "one,two,three"
    When I run "agents plan conflicts @latest"
    Then it ends with 4
    And standard output contains "coded"
    And standard output contains "written"
    When I run "agents plan resolve @latest a.txt --take writer"
    And I run "agents plan apply @latest"
    Then it ends with 0
    And the file "a.txt" is "one,written,three"
