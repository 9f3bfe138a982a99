//! Help, version, completions, and words that are wrong.

use snapbox::str;

use crate::program::{Program, json, text};

#[test]
fn the_version() {
    Program::new()
        .run("--version")
        .success()
        .stdout_eq(str![[r#"
agents 0.2.0

"#]])
        .stderr_eq("");
}

#[test]
fn short_help() {
    Program::new()
        .run("-h")
        .success()
        .stdout_eq(str![[r#"
Keeps what many agents change at once: nothing lost, nothing half-written

Usage: agents [OPTIONS] <COMMAND>

Commands:
  config       Read and change configuration
  context      Keep conversations
  run          Run actors in parallel, each in its own copy of the project
  plan         Review, apply and undo what actors change in your folders
  changeset    Record what one actor changes
  audit        Read and verify the trail of who did what
  store        Look after the store of plans and changesets
  doctor       Look at everything and tell what is wrong, with the command that helps
  demo         Kill writers at random moments and show what they leave
  completions  Print a completion script for a shell
  man          Print the manual, or write its pages
  help         Print this message or the help of the given subcommand(s)

Options:
  -h, --help     Print help (see more with '--help')
  -V, --version  Print version

Options of every command:
      --home <DIR>               The home folder of this program [env: CLEVERAGENTS_HOME] [default:
                                 ~/.cleveragents]
      --project <DIR>            The project's folder [default: the nearest one above with a
                                 `.cleveragents` folder]
  -c, --config <KEY=VALUE>       Set a key of configuration for this command only; may be repeated
      --format <FORMAT>          How to print [key: core.format] [default: rich on a terminal, plain
                                 otherwise] [possible values: rich, plain, json]
      --color <WHEN>             When to use colours [key: core.color] [default: auto] [possible
                                 values: auto, always, never]
  -q, --quiet                    Say nothing but what was asked for, and errors
  -v, --verbose                  Say also where things were looked for
      --lock-timeout <DURATION>  How long to wait for somebody else's lock, such as `500ms` [key:
                                 core.lock-timeout] [default: 30s]
      --log <LEVEL>              Log what is done, for finding faults: off, error, warn, info, debug
                                 or trace [key: core.log] [default: off]
      --log-file <FILE>          The file to append the log to [key: core.log-file] [default:
                                 standard error]

Exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 conflict, 5 busy, 6 outcome unknown, 70 a bug of
this program, 130 interrupted.

"#]])
        .stderr_eq("");
}

#[test]
fn help_of_the_demo() {
    Program::new()
        .run("demo --help")
        .success()
        .stdout_eq(str![[r#"
Kill writers at random moments and show what they leave

Saves the four files of a conversation over and over, first one rename after the other, then as a
context with one commit, and kills the writer in the middle. Then many processes set keys in one
configuration file at once, first the usual way, then as `agents config set` does. At last four
actors run at once, the apply of what they did is killed half-way, the next command finishes it, and
one actor's changes are taken back. All of it happens in a temporary folder that is removed again.

Ends with 0 when everything was whole and nothing acknowledged was lost, with 70 otherwise.

Usage: agents demo [OPTIONS]

Options:
      --kills <N>
          How often each writer is killed [default: 100, fewer on a slow disk]

      --seed <S>
          Choose the moments of the kills by this number [default: a random one]

      --keep
          Keep the temporary folder and print where it is

  -h, --help
          Print help (see a summary with '-h')

Options of every command:
      --home <DIR>
          The home folder of this program [env: CLEVERAGENTS_HOME] [default: ~/.cleveragents]

      --project <DIR>
          The project's folder [default: the nearest one above with a `.cleveragents` folder]

  -c, --config <KEY=VALUE>
          Set a key of configuration for this command only; may be repeated

      --format <FORMAT>
          How to print [key: core.format] [default: rich on a terminal, plain otherwise]

          Possible values:
          - rich:  Colours and signs, for a terminal
          - plain: Plain ASCII text
          - json:  One JSON object with command, status, exit_code, data, timing and messages

      --color <WHEN>
          When to use colours [key: core.color] [default: auto]
          
          `auto` goes by the terminal, NO_COLOR and CLICOLOR_FORCE.

          Possible values:
          - auto:   On a terminal, unless NO_COLOR is set; elsewhere if CLICOLOR_FORCE is
          - always: Also in a pipe
          - never:  Not even on a terminal

  -q, --quiet
          Say nothing but what was asked for, and errors

  -v, --verbose
          Say also where things were looked for

      --lock-timeout <DURATION>
          How long to wait for somebody else's lock, such as `500ms` [key: core.lock-timeout]
          [default: 30s]

      --log <LEVEL>
          Log what is done, for finding faults: off, error, warn, info, debug or trace [key:
          core.log] [default: off]

      --log-file <FILE>
          The file to append the log to [key: core.log-file] [default: standard error]

"#]])
        .stderr_eq("");
}

#[test]
fn an_unknown_command_is_a_usage_error_with_the_nearest_one() {
    Program::new().run("dmo").code(2).stdout_eq("").stderr_eq(str![[r#"
error: unrecognized subcommand 'dmo'

  tip: a similar subcommand exists: 'demo'

Usage: agents [OPTIONS] <COMMAND>

For more information, try '--help'.

"#]]);
}

#[test]
fn no_command_is_a_usage_error() {
    Program::new().run("").code(2).stdout_eq("");
}

#[test]
fn a_bad_number_is_a_usage_error() {
    Program::new().run("demo --kills 0").code(2).stdout_eq("").stderr_eq(str![[r#"
error: invalid value '0' for '--kills <N>': 0 is not in 1..=100000

For more information, try '--help'.

"#]]);
}

#[test]
fn completions_know_the_commands_and_nothing_hidden() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = text(&Program::new().run(&format!("completions {shell}")).success().stderr_eq(""));
        assert!(script.contains("demo") && script.contains("kills"), "{shell}");
        assert!(!script.contains("__writer"), "{shell}");
    }
}

#[test]
fn completions_for_programs_are_in_the_envelope() {
    let envelope = json(&Program::new().run("completions fish --format json").success());
    assert_eq!(envelope["command"], "completions");
    assert_eq!(envelope["data"]["shell"], "fish");
    assert!(envelope["data"]["script"].as_str().unwrap().contains("complete -c agents"));
}
