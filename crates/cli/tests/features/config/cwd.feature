@case-cfg-cwd
Feature: Nothing is written to the current folder by accident

  Scenario: Outside a project everything goes to the home folder
    Given I am in a folder that is no project
    When I run "agents config set x.a 1"
    Then it ends with 0
    And the current folder is empty
    And the global file says:
      """
      x.a = 1
      """

  Scenario: A project is found from a deep subfolder
    Given the project file says:
      """
      x.a = 1
      """
    And I am in the folder "src/deep" of the project
    When I run "agents config set x.a 2"
    Then it ends with 0
    And the current folder is empty
    And the project file says:
      """
      x.a = 2
      """

  Scenario: Without a home folder nothing is written
    Given I am in a folder that is no project
    And nobody says where the home folder is
    When I run "agents config set x.a 1"
    Then it ends with 3
    And the current folder is empty
