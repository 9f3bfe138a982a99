@case-ctx-full
Feature: A full disk fails the call and leaves the context usable

  @needs_mount
  Scenario: No space for a message
    Given a context "chat" with 2 messages on a disk with no room
    When I append a message of 600000 bytes to "chat"
    Then it fails
    And standard error contains "No space left"
    And the context "chat" is as it was
    When I run "agents context show chat"
    Then it ends with 0
    When there is room again
    And I run "agents context append chat --role user next"
    Then it ends with 0
    And "chat" has 3 messages, each once, numbered without a gap
    And the context "chat" is sound

  @needs_mount
  Scenario: Space in the journal, but not in the files
    Given a context "chat" with 2 messages on a disk with no room
    When I append a message of 100000 bytes to "chat"
    Then it ends with 0
    And standard error contains "chat is saved, but not all files are written"
    And "chat" has 3 messages, each once, numbered without a gap
    When there is room again
    And I run "agents context append chat --role user next"
    Then it ends with 0
    And "chat" has 4 messages, each once, numbered without a gap
    And the context "chat" is sound
