@case-app-dirty
Feature: An apply leaves files outside the plan unchanged

  Scenario: An untracked file beside the changed one
    Given the file "a.txt" says:
      """
      one
      two
      three
      four
      five
      """
    And a plan "work" for the project
    And the file "mine.txt" is changed to "untracked"
    And "coder" has changed "a.txt" to "new"
    When I run "agents plan apply work"
    Then it ends with 0
    And the file "mine.txt" is "untracked"
