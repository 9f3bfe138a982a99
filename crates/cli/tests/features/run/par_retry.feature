@case-par-retry
Feature: A failed actor is retried up to its limit, each time in a clean sandbox

  Scenario: No more retries than the limit
    Given a project
    And the file "plan.toml" says:
      """
      [nodes.flaky]
      run = "ls >> $OUT/tries; echo dirt > dirt; exit 3"
      retries = 2
      """
    And actors may write to a folder OUT
    When I run "agents run plan.toml"
    Then it ends with 1
    And the file "tries" in OUT is "plan.toml,plan.toml,plan.toml"

  Scenario: The first success ends the retries
    Given a project
    And the file "plan.toml" says:
      """
      [nodes.flaky]
      run = "echo try >> $OUT/tries; echo dirt > dirt-$(wc -l < $OUT/tries); [ $(wc -l < $OUT/tries) = 2 ]"
      retries = 5
      """
    And actors may write to a folder OUT
    When I run "agents run plan.toml --apply"
    Then it ends with 0
    And the file "tries" in OUT is "try,try"
    And the file "dirt-2" is "dirt"
    And there is no file "dirt-1"
