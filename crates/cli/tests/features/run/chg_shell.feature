@case-chg-shell
Feature: Changes by a shell command, a script or a child process count like any other

  Scenario: All changes are found and attributed
    Given a project
    And the file "edited.txt" says:
      """
      one
      two
      """
    And the file "gone.txt" says:
      """
      gone
      """
    And the file "moved.txt" says:
      """
      moved
      """
    And the file "work.sh" says:
      """
      sed -i s/two/TWO/ edited.txt
      sh -c 'sh -c "echo made by a grandchild > made.txt"'
      rm gone.txt
      mv moved.txt there.txt
      chmod +x work.sh
      """
    When I run "agents run --name work --no-tty -- sh work.sh"
    Then it ends with 0
    And the file "edited.txt" is "one,two"
    When I run "agents plan diff work --stat"
    Then standard output contains "edited.txt"
    And standard output contains "made.txt (new)"
    And standard output contains "gone.txt (deleted)"
    And standard output contains "moved.txt => there.txt"
    And standard output contains "work.sh"
    When I run "agents plan apply work"
    Then it ends with 0
    And the file "edited.txt" is "one,TWO"
    And the file "made.txt" is "made by a grandchild"
    And the file "there.txt" is "moved"
    And there is no file "gone.txt"
    And there is no file "moved.txt"
