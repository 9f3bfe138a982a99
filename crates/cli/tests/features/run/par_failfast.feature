@case-par-failfast
Feature: fail-fast decides whether the first failure stops the other nodes

  Background:
    Given a project
    And the file "plan.toml" says:
      """
      [nodes.bad]
      run = "until [ -e $OUT/parent ]; do sleep 0.05; done; touch $OUT/go; exit 7"

      [nodes.sibling]
      run = "echo $$ > $OUT/parent; until [ -e $OUT/go ]; do sleep 0.05; done; [ $WAIT = no ] || sleep 600; echo done > sibling.txt"
      """
    And actors may write to a folder OUT

  Scenario: With fail-fast the others are stopped, and recorded as stopped
    Given the variable "WAIT" is "yes"
    When I run "agents run plan.toml --fail-fast --concurrency 2"
    Then it ends with 1
    And said contains "bad: failed with exit code 7"
    And said contains "sibling: stopped"
    And no process of "parent" in OUT is left
    When I run "agents plan show @latest"
    Then standard output contains "stopped"

  Scenario: Without fail-fast they finish
    Given the variable "WAIT" is "no"
    When I run "agents run plan.toml --no-fail-fast --concurrency 2"
    Then it ends with 1
    And said contains "bad: failed with exit code 7"
    And said contains "sibling: succeeded"
