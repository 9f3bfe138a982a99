@case-cfg-symlink
Feature: The global file may be a symlink; a project file may not escape the project

  Scenario: A file in a dotfiles repository
    Given the global file is a symlink to "dotfiles/agents.toml" of mode 640 that says:
      """
      # dotfiles
      x.a = 1
      """
    When I run "agents config set x.a 2"
    Then it ends with 0
    And the global file is still a symlink to "dotfiles/agents.toml" of mode 640
    And the global file says:
      """
      # dotfiles
      x.a = 2
      """

  Scenario: A project file that is a symlink to another folder
    Given the project file is a symlink to "elsewhere/victim.toml" that says:
      """
      x.a = 1
      """
    When I run "agents config set x.a 2 --scope project"
    Then it ends with 1
    And the file "elsewhere/victim.toml" says:
      """
      x.a = 1
      """
