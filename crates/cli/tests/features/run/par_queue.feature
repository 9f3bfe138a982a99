@case-par-queue
Feature: Actors beyond the concurrency limit wait

  Scenario: None is refused
    Given a project
    And a plan file with 7 nodes that each make a file of their own
    When I run "agents run plan.toml --concurrency 2 --apply --format json"
    Then it ends with 0
    And 7 nodes succeeded, and at most 2 ran at once
    And each of the 7 nodes has made its file
