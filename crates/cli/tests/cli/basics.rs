//! Help, version, completions, and wrong arguments.

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
Run coding agents in parallel, review what they changed, apply or undo it

Work
  run          Run actors, each in its own sandbox
  logs         Print what actors printed

Review
  plan         Show, resolve, apply and undo changes
  changeset    Record changes by hand

State
  config       Read and change configuration
  context      Keep conversations
  audit        Verify who did what

Administration
  doctor       Find problems and their fixes
  store        Copy, migrate, compact the store
  demo         Kill writers at random moments and show what they leave
  schema       Print a JSON Schema of output for programs
  completions  Print a completion script for a shell
  man          Print a manual page, or write all of them

See `agents help COMMAND` for a command, `agents help options` for options of all commands.

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

Saves the four files of a conversation repeatedly, first by four renames, then as a context in one
commit, and kills the writer. Then processes set keys in one configuration file at once, first the
usual way, then as `agents config set` does. Last, four actors run at once, their apply is killed
half-way, the next command finishes it, and the changes of one actor are undone. All of it happens
in a temporary folder.

Exits with 0 if all files were whole and no acknowledged save was lost, with 70 otherwise.

Usage: agents demo [OPTIONS]

Options:
      --kills <N>
          Kill each writer this often [default: 100, fewer on a slow disk]

      --seed <S>
          Seed the random moments of the kills [default: random]

      --keep
          Keep the temporary folder and print its path

  -h, --help
          Print help (see a summary with '-h')

"#]])
        .stderr_eq("");
}

#[test]
fn an_unknown_command_is_corrected_in_the_hint() {
    Program::new().run("dmo").code(2).stdout_eq("").stderr_eq(str![[r#"
error: unrecognized subcommand 'dmo'
  hint: agents demo

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
  hint: agents help demo

"#]]);
}

#[test]
fn completions_list_visible_commands_only() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = text(&Program::new().run(&format!("completions {shell}")).success().stderr_eq(""));
        assert!(script.contains("demo") && script.contains("kills"), "{shell}");
        assert!(!script.contains("__writer"), "{shell}");
    }
}

#[test]
fn the_envelope_of_completions_has_the_script() {
    let envelope = json(&Program::new().run("completions fish --format json").success());
    assert_eq!(envelope["command"], "completions");
    assert_eq!(envelope["data"]["shell"], "fish");
    assert!(envelope["data"]["script"].as_str().unwrap().contains("complete -c agents"));
}
