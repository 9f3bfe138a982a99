@case-ctx-name
Feature: Names that are not plain are refused before the disk is touched

  Scenario Outline: No folder is made
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
