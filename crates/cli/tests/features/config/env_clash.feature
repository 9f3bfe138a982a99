@case-cfg-env-clash
Feature: No two keys share an environment variable

  Scenario: Two keys that differ in a dot and a dash
    When the keys "build.out-dir" and "build.out.dir" are registered
    Then registering fails and names "CLEVERAGENTS_BUILD_OUT_DIR"

  Scenario: Two keys that differ
    When the keys "build.out-dir" and "build.in-dir" are registered
    Then registering succeeds
