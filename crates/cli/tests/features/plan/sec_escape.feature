@case-sec-escape
Feature: Nothing outside the root is written

  Scenario Outline: Paths that leave the root
    Given a plan "work" for the project
    When "coder" starts a changeset of "work"
    And I run "agents changeset record {coder} --path <path> --symlink x"
    Then it ends with 2
    And standard error contains "a plan cannot change"

    Examples:
      | path             |
      | ../elsewhere/x   |
      | /etc/x           |
      | a/../../x        |

  Scenario: A folder that is swapped for a symlink after recording
    Given a plan "work" for the project
    And "coder" has changed "sub/x.txt" to "new"
    And the folder "sub" is a symlink to "../elsewhere"
    When I run "agents plan apply work"
    Then it ends with 4 or 1
    And there is nothing in "../elsewhere"
