@case-cfg-nested
Feature: A nested write joins the outer one

  Scenario: The inner write sees staged changes, and both commit once
    Given the global file says:
      """
      # mine
      x.a = 1
      """
    When a batch sets "x.a" to "2" and then calls a setter that sets "x.b" to twice "x.a"
    Then the file was replaced once
    And the global file says:
      """
      # mine
      x.a = 2
      x.b = 4
      """

  Scenario: A failed outer write leaves nothing
    Given the global file says:
      """
      x.a = 1
      """
    When a batch calls a setter of "x.b" and then fails
    Then the batch failed
    And the global file is as it was

  Scenario: A separate write during the batch is an error, not a deadlock
    Given the global file says:
      """
      x.a = 1
      """
    When a batch sets "x.b" beside itself instead of through itself
    Then the batch failed
    And the global file is as it was
