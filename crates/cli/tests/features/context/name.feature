@case-ctx-name
Feature: Invalid names are rejected before any I/O

  Scenario Outline: No folder is created
    When I make a context with the name "<name>"
    Then it ends with 2
    And standard error contains "is not a valid context name"
    And the home folder is empty

    Examples:
      | name    |
      | ../x    |
      | a/b     |
      |         |
      | .locks  |
      | con     |
      | nul.txt |
      | x.      |

  Scenario: Nor for a name of 300 bytes
    When I make a context with a name of 300 bytes
    Then it ends with 2
    And standard error contains "is not a valid context name"
    And the home folder is empty
