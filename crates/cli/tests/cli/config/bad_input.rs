//! Invalid files and values: a clear error, and no loss.

#![expect(clippy::disallowed_methods, reason = "plays a person who breaks files")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use snapbox::str;

use crate::program::{GLOBAL_FILE, PROJECT_FILE, Program, json, stderr_text};

/// Limit of the program for a file, in bytes.
const FILE_BYTES_MAX: usize = 10 * 1024 * 1024;

#[test]
fn a_syntax_error_is_reported_with_position_and_the_file_kept() {
    let program = Program::new();
    let broken = "# mine\nx.a = 1\n\tx.b = [1, 2\nx.c = 3\n";
    program.write(GLOBAL_FILE, broken);
    program.run("config set x.d 4").code(1).stdout_eq("").stderr_eq(str![[r#"
error: cannot parse `[PLACE]/agents-home/config.toml`, line 4, column 1: missing comma between array elements, expected `,`
   --> [PLACE]/agents-home/config.toml:4:1 (byte 28)
    |
  4 | x.c = 3
    | ^
  hint: agents config edit --scope global

"#]]);
    program.run("config unset x.a").code(1).stdout_eq("").stderr_eq(str![[r#"
error: cannot parse `[PLACE]/agents-home/config.toml`, line 4, column 1: missing comma between array elements, expected `,`
   --> [PLACE]/agents-home/config.toml:4:1 (byte 28)
    |
  4 | x.c = 3
    | ^
  hint: agents config edit --scope global

"#]]);
    program.run("config get x.a").code(1).stdout_eq("").stderr_eq(str![[r#"
error: cannot parse `[PLACE]/agents-home/config.toml`, line 4, column 1: missing comma between array elements, expected `,`
   --> [PLACE]/agents-home/config.toml:4:1 (byte 28)
    |
  4 | x.c = 3
    | ^
  hint: agents config edit --scope global

"#]]);
    program.run("config get x.a --format json").code(1).stderr_eq("").stdout_eq(str![[r#"
{
  "version": 1,
  "command": "config get",
  "status": "error",
  "exit_code": 1,
  "data": null,
  "timing": {
    "duration_ms": [..]
  },
  "messages": [
    {
      "level": "error",
      "code": "unparsable",
      "message": "cannot parse `[PLACE]/agents-home/config.toml`, line 4, column 1: missing comma between array elements, expected `,`",
      "hint": [
        "agents config edit --scope global"
      ],
      "location": {
        "file": "[PLACE]/agents-home/config.toml",
        "byte_offset": 28,
        "line": 4,
        "column": 1,
        "excerpt": "x.c = 3",
        "caret": 0
      }
    }
  ]
}

"#]]);
    assert_eq!(program.text(GLOBAL_FILE), broken);
}

#[test]
fn the_caret_is_below_the_character() {
    let program = Program::new();
    program.write(GLOBAL_FILE, "x.a = \"äöü\" oops\n");
    program.run("config get x.a").code(1).stdout_eq("").stderr_eq(str![[r#"
error: cannot parse `[PLACE]/agents-home/config.toml`, line 1, column 13: unexpected key or value, expected newline, `#`
   --> [PLACE]/agents-home/config.toml:1:13 (byte 15)
    |
  1 | x.a = "äöü" oops
    |             ^
  hint: agents config edit --scope global

"#]]);
}

#[test]
fn a_key_in_another_file_resolves_with_a_warning() {
    let program = Program::in_project();
    program.write(PROJECT_FILE, "plan.merge = \n");
    program.write(GLOBAL_FILE, "plan.merge = \"last-wins\"\n");
    program.run("config get plan.merge").success().stdout_eq(str![[r#"
last-wins

"#]]).stderr_eq(str![[r#"
warning: cannot parse `[PLACE]/.cleveragents/config.toml`, line 1, column 14: string values must be quoted, expected literal string
   --> [PLACE]/.cleveragents/config.toml:1:14 (byte 13)
    |
  1 | plan.merge = 
    |              ^
  hint: agents config edit --scope project

"#]]);
    program.run("config list plan").code(1).stdout_eq(str![[r#"
plan.merge = "last-wins"  # global

"#]]).stderr_eq(str![[r#"
error: cannot parse `[PLACE]/.cleveragents/config.toml`, line 1, column 14: string values must be quoted, expected literal string
   --> [PLACE]/.cleveragents/config.toml:1:14 (byte 13)
    |
  1 | plan.merge = 
    |              ^
  hint: agents config edit --scope project

"#]]);
}

#[test]
fn an_invalid_value_names_the_valid_ones() {
    let program = Program::new();
    let check = |words: &str| program.run(words).code(2).stdout_eq("");
    check("config set plan.concurrency many").stderr_eq(str![[r#"
error: `plan.concurrency` must be an integer from 1 to 256, not `many`
  hint: agents config explain plan.concurrency

"#]]);
    check("config set plan.concurrency 257").stderr_eq(str![[r#"
error: `plan.concurrency` must be an integer from 1 to 256; `257` is not allowed
  hint: agents config explain plan.concurrency

"#]]);
    check("config set core.format jsn").stderr_eq(str![[r#"
error: `core.format` must be one of `auto`, `rich`, `plain`, `json`; `jsn` is not allowed
  hint: agents config explain core.format

"#]]);
    check("config set core.lock-timeout 30").stderr_eq(str![[r#"
error: `core.lock-timeout` must be a duration such as `30s`, at most 1d, not `30`
  hint: agents config explain core.lock-timeout

"#]]);
    check("config set core.lock-timeout 25h").stderr_eq(str![[r#"
error: `core.lock-timeout` must be a duration such as `30s`, at most 1d; `25h` is not allowed
  hint: agents config explain core.lock-timeout

"#]]);
    check("-c plan.concurrency=0 config get plan.merge").stderr_eq(str![[r#"
error: `plan.concurrency` must be an integer from 1 to 256; `0` is not allowed (--config)
  hint: agents config explain plan.concurrency

"#]]);
    program
        .run_with("CLEVERAGENTS_PLAN_CONCURRENCY", "0", "config get plan.concurrency")
        .code(2)
        .stdout_eq("")
        .stderr_eq(str![[r#"
error: `plan.concurrency` must be an integer from 1 to 256; `0` is not allowed ($CLEVERAGENTS_PLAN_CONCURRENCY)
  hint: agents config explain plan.concurrency

"#]]);
    assert!(!program.path("agents-home").exists());
    program.write(GLOBAL_FILE, "plan.concurrency = \"many\"\n");
    program.run("config get plan.concurrency").code(1).stdout_eq("").stderr_eq(str![[r#"
error: `plan.concurrency` must be an integer from 1 to 256, not `many` ([PLACE]/agents-home/config.toml:1)
  hint: agents config explain plan.concurrency
        agents config set plan.concurrency VALUE --scope global

"#]]);
}

#[test]
fn an_unknown_key_suggests_the_most_similar() {
    let program = Program::new();
    let check = |words: &str| program.run(words).code(2).stdout_eq("");
    check("config set plan.concurency 8").stderr_eq(str![[r#"
error: unknown key `plan.concurency`
  hint: agents config set plan.concurrency 8

"#]]);
    check("config get concurrency").stderr_eq(str![[r#"
error: unknown key `concurrency`
  hint: agents config get plan.concurrency

"#]]);
    check("config unset nothing.like.it").stderr_eq(str![[r#"
error: unknown key `nothing.like.it`
  hint: agents config list  # all keys; names below x. are yours

"#]]);
    check("config get plan").stderr_eq(str![[r#"
error: `plan` is a table, not a value
  hint: agents config list plan

"#]]);
    check("config get a..b").stderr_eq(str![[r#"
error: `a..b` is not a key: its names are letters, digits, `_`, `-`, or quoted, with dots between
  hint: agents config list  # all keys; names below x. are yours

"#]]);
    assert!(!program.path("agents-home").exists());
}

#[test]
fn a_key_is_a_table_or_a_value() {
    let program = Program::new();
    program.write(GLOBAL_FILE, "x.a = 1\n[x.table]\nb = 2\n");
    let before = program.text(GLOBAL_FILE);
    program.run("config set x.a.b 2").code(4).stdout_eq("").stderr_eq(str![[r#"
error: cannot set `x.a.b`: `x.a` is a value in `[PLACE]/agents-home/config.toml`, line 1
  hint: agents config unset x.a --scope global  # or choose another key

"#]]);
    program.run("config set x.table 2").code(4).stdout_eq("").stderr_eq(str![[r#"
error: cannot set `x.table`: `x.table` is a table in `[PLACE]/agents-home/config.toml`, line 2
  hint: agents config list x.table

"#]]);
    program.run("config get x.table").code(2).stdout_eq("").stderr_eq(str![[r#"
error: `x.table` is a table, not a value
  hint: agents config list x.table

"#]]);
    assert_eq!(program.text(GLOBAL_FILE), before);
    program.write(GLOBAL_FILE, "plan = 3\n");
    program.run("config list plan.concurrency").code(1).stderr_eq(str![[r#"
error: `plan` must be a table, not `a value` ([PLACE]/agents-home/config.toml:1)
  hint: agents config edit --scope global

"#]]);
}

#[test]
fn a_duplicate_key_is_reported() {
    let program = Program::new();
    program.write(GLOBAL_FILE, "x.a = 1\nx.a = 2\n");
    program.run("config set x.b 1").code(1).stdout_eq("").stderr_eq(str![[r#"
error: cannot parse `[PLACE]/agents-home/config.toml`, line 2, column 3: duplicate key
   --> [PLACE]/agents-home/config.toml:2:3 (byte 10)
    |
  2 | x.a = 2
    |   ^
  hint: agents config edit --scope global

"#]]);
    assert_eq!(program.text(GLOBAL_FILE), "x.a = 1\nx.a = 2\n");
}

#[test]
fn a_non_utf8_file_is_reported() {
    let program = Program::new();
    program.write(GLOBAL_FILE, b"x.a = 1\nx.b = \"\xff\"\n");
    program.run("config get x.a").code(1).stdout_eq("").stderr_eq(str![[r#"
error: `[PLACE]/agents-home/config.toml` is not UTF-8 text: bad byte at offset 15, line 2
  hint: save the file as UTF-8

"#]]);
    program.run("config set x.a 2").code(1).stdout_eq("").stderr_eq(str![[r#"
error: `[PLACE]/agents-home/config.toml` is not UTF-8 text: bad byte at offset 15, line 2
  hint: save the file as UTF-8

"#]]);
    assert_eq!(program.read(GLOBAL_FILE), b"x.a = 1\nx.b = \"\xff\"\n");
}

#[test]
fn byte_order_marks_and_crlf_are_preserved() {
    let program = Program::new();
    program.write(GLOBAL_FILE, "\u{feff}# mine\r\nx.a = 1 # one\r\n");
    program.run("config set x.a=2 x.b=3").success().stderr_eq(str![[r#"
x.a: 1 -> 2 in [PLACE]/agents-home/config.toml (global)
x.b: not set -> 3 in [PLACE]/agents-home/config.toml (global)

"#]]);
    assert_eq!(program.text(GLOBAL_FILE), "\u{feff}# mine\r\nx.a = 2 # one\r\nx.b = 3\r\n");
    program.run("config get x.a").success().stdout_eq("2\n");
}

#[test]
fn files_up_to_ten_megabytes_are_accepted() {
    let program = Program::new();
    let line = "# nothing but a comment that makes the file long enough to be slow for those who are\n";
    let mut content = line.repeat(FILE_BYTES_MAX / line.len() - 1);
    content += "x.a = 1\n";
    program.write(GLOBAL_FILE, &content);
    program.run("config set x.a 2").success().stderr_eq(str![[r#"
x.a: 1 -> 2 in [PLACE]/agents-home/config.toml (global)

"#]]);
    assert_eq!(program.text(GLOBAL_FILE), content.replace("x.a = 1", "x.a = 2"));
    content += &line.repeat(2);
    program.write(GLOBAL_FILE, &content);
    program.run("config set x.a 3").code(1).stdout_eq("").stderr_eq(str![[r#"
error: `[PLACE]/agents-home/config.toml` has more than 10485760 bytes
  hint: agents config path

"#]]);
    assert_eq!(program.text(GLOBAL_FILE), content);
}

#[test]
fn a_long_line_is_excerpted_around_the_error() {
    let program = Program::new();
    program.write(GLOBAL_FILE, format!("x.a = [{}oops]\n", "1, ".repeat(1_000_000)));
    let run = program.run("config get x.a").code(1);
    assert!(stderr_text(&run).len() < 1000, "{}", stderr_text(&run).len());
    assert!(stderr_text(&run).contains("1, oops]"), "{}", stderr_text(&run));
}

#[test]
fn global_files_may_be_symlinks_and_project_files_may_not_escape() {
    let program = Program::new();
    program.write("dotfiles/agents.toml", "# kept elsewhere\n");
    program.write("agents-home/other", "");
    symlink("../dotfiles/agents.toml", program.path(GLOBAL_FILE)).unwrap();
    program
        .run("config set x.a 1")
        .success()
        .stderr_eq(str![[r#"
x.a: not set -> 1 in [PLACE]/agents-home/config.toml (global)

"#]])
        .stdout_eq("");
    assert_eq!(program.text("dotfiles/agents.toml"), "# kept elsewhere\nx.a = 1\n");
    assert!(fs::symlink_metadata(program.path(GLOBAL_FILE)).unwrap().is_symlink());

    program.write(".cleveragents/other", "");
    let outside = Program::new();
    outside.write("secrets.toml", "x.mine = 1\n");
    symlink(outside.path("secrets.toml"), program.path(PROJECT_FILE)).unwrap();
    let run = program.run("config set x.a 1 --scope project").code(1).stdout_eq("");
    assert!(stderr_text(&run).contains("is a symlink out of the project"), "{}", stderr_text(&run));
    assert_eq!(outside.text("secrets.toml"), "x.mine = 1\n");
}

#[test]
fn irregular_files_are_reported() {
    let program = Program::new();
    program.write("agents-home/config.toml/inside", "");
    program.run("config get x.a").code(1).stdout_eq("").stderr_eq(str![[r#"
error: `[PLACE]/agents-home/config.toml` is not a regular file
  hint: agents config path

"#]]);
    program.run("config set x.a 1").code(1).stdout_eq("").stderr_eq(str![[r#"
error: `[PLACE]/agents-home/config.toml` is not a regular file
  hint: agents config path

"#]]);
}

/// The program rejects a read-only file even if the system would allow the write, so this holds for
/// root too.
#[test]
fn read_only_files_are_reported_and_unchanged() {
    let program = Program::new();
    program.write(GLOBAL_FILE, "x.a = 1\n");
    let chmod = |name: &str, mode| {
        fs::set_permissions(program.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    chmod(GLOBAL_FILE, 0o400);
    program.run("config set x.a 2").code(1).stdout_eq("").stderr_eq(str![[r#"
error: `[PLACE]/agents-home/config.toml` is read-only
  hint: chmod u+w [PLACE]/agents-home/config.toml

"#]]);
    chmod(GLOBAL_FILE, 0o600);
    chmod("agents-home", 0o500);
    program.run("config set x.a 2").code(1).stdout_eq("").stderr_eq(str![[r#"
error: `[PLACE]/agents-home` is read-only
  hint: chmod u+w [PLACE]/agents-home

"#]]);
    program.run("config get x.a").success().stdout_eq("1\n");
    chmod("agents-home", 0o700);
    assert_eq!(program.text(GLOBAL_FILE), "x.a = 1\n");
}

#[test]
fn commands_that_need_a_home_folder_report_its_absence() {
    let program = Program::new();
    let run = |words: &str| {
        let mut command = program.command(words);
        command.env_remove("CLEVERAGENTS_HOME").env("HOME", "relative");
        program.check(&mut command)
    };
    run("config get plan.concurrency").code(3).stdout_eq("").stderr_eq(str![[r#"
error: no home folder: neither CLEVERAGENTS_HOME nor the home folder of the user is known
  hint: name an absolute path with --home DIR or CLEVERAGENTS_HOME

"#]]);
    run("config set plan.concurrency 8").code(3).stdout_eq("");
    run("config path").code(3).stdout_eq("");
    run("completions fish").success().stderr_eq("");
    assert_eq!(json(&run("config list --format json").code(3))["messages"][0]["code"], "no-home");
    // A relative home would put files into any current folder.
    let relative = program.run_with("CLEVERAGENTS_HOME", "here", "config set x.a 1");
    relative.code(2).stdout_eq("").stderr_eq(str![[r#"
error: CLEVERAGENTS_HOME is `here`, which is not an absolute path
  hint: name an absolute path with --home DIR or CLEVERAGENTS_HOME

"#]]);
    assert!(program.names(".").is_empty());
    program.run("config set x.a 1 --home here").success().stdout_eq("").stderr_eq(str![[r#"
x.a: not set -> 1 in [PLACE]/here/config.toml (global)

"#]]);
    program.run("config set x.a 1 --home not/there").code(3).stdout_eq("").stderr_eq(str![[r#"
error: cannot create the home folder: there is no folder `[PLACE]/not`
  hint: name an existing folder with --home DIR or CLEVERAGENTS_HOME

"#]]);
    program.run("config get x.a --project not-there").code(3).stdout_eq("").stderr_eq(str![[r#"
error: there is no project folder `[PLACE]/not-there`
  hint: mkdir -p [PLACE]/not-there  # or leave out --project

"#]]);
}

#[test]
fn a_list_that_does_not_parse_is_no_string() {
    let program = Program::new();
    program.run_of(&["config", "set", "x.a", "[1"]).code(2).stdout_eq("").stderr_eq(str![[r#"
error: `x.a` must be any TOML value, not `[1`
  hint: agents config set x.a '"[1"'  # as a string

"#]]);
    program.run_of(&["config", "set", "x.a", "\"[1\""]).success();
    program.run("config get x.a").success().stdout_eq("[1\n");
}
