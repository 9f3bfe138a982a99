@case-cfg-unknown
Feature: Invalid keys and values are rejected, and nothing is written

  Scenario Outline: <what>
    Given the global file says:
      """
      core.format = "plain" # mine
      """
    When I run "agents config set <key> <value>"
    Then it ends with 2
    And standard error contains "<says>"
    And standard error contains "<helps>"
    And the global file is as it was

    Examples:
      | what                    | key              | value | says                          | helps                      |
      | an unknown key          | core.formt       | json  | unknown key `core.formt`      | hint: agents config set core.format json |
      | a wrong type            | plan.concurrency | many  | must be an integer            | 1 to 256                   |
      | a value out of range    | plan.concurrency | 0     | must be an integer            | 1 to 256                   |
      | a word that is no choice | core.format     | xml   | must be one of                | `rich`, `plain`, `json`    |
