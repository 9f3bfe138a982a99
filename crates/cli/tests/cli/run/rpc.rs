//! Commands that an actor starts in its sandbox: they call the run, with the permissions of their node.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use super::planned;
use crate::program::{Program, stderr_text, text};

/// A shell line in which `agents` is the tested program.
fn script(line: &str) -> String {
    format!("agents() {{ {} \"$@\"; }}; {line}", env!("CARGO_BIN_EXE_agents"))
}

/// A project with a plan of one node, `work`, that runs this script.
fn working(fields: &str, lines: &str) -> Program {
    let program = planned(&format!("name = 'p'\n[nodes.work]\n{fields}\nrun = 'sh work.sh'\n"));
    program.write("work.sh", script(lines));
    program
}

/// The output of the actor.
fn printed(program: &Program) -> String {
    text(&program.run("logs p work").success())
}

#[test]
fn actors_record_append_and_get_through_their_run() {
    let program = working(
        "timeout = '300s'",
        "set -e\n\
         printf 'by command\\n' > $TMPDIR/new\n\
         agents changeset record $AGENTS_CHANGESET --path made.txt --content $TMPDIR/new --mode 755 --tool pen\n\
         printf '%s\\n' '@@ -1,2 +1,2 @@' '-one' '+ONE' ' two' | agents changeset record $AGENTS_CHANGESET --path a.txt --patch -\n\
         echo done | agents context append talk --role assistant -\n\
         agents config get x.word --show-origin\n\
         agents --format json config get plan.concurrency\n\
         agents context show talk\n\
         agents config list x\n",
    );
    program.run("context create talk").success();
    program.run("config set x.word hello --scope global").success();
    let run = program.run("run plan.toml");
    let said = printed(&program);
    run.success();
    assert!(said.contains(": recorded change 1\n"), "{said}");
    assert!(
        said.contains(": recorded change 2\n") && said.contains("talk: appended message 0, revision 2\n"),
        "{said}"
    );
    assert!(
        said.contains(&format!("global {}:", program.path("agents-home/config.toml").display())),
        "{said}"
    );
    assert!(said.contains("\thello\n") && said.contains("\"command\": \"config get\""), "{said}");
    assert!(said.contains("\"value\": 4"), "{said}");
    let shown = text(&program.run("context show talk").success());
    assert!(shown.contains("done"), "{shown}");
    // The actor's sandbox does not contain it.
    program.run("plan apply p").success();
    assert_eq!(program.text("made.txt"), "by command\n");
    assert_eq!(program.text("a.txt"), "ONE\ntwo\nthree\nfour\nfive\n");
    let log = text(&program.run("audit log --plan p --format json").success());
    assert!(!log.contains("TOKEN"), "{log}");
    let left: Vec<_> = program
        .names("agents-home/runs")
        .into_iter()
        .flat_map(|plan| program.names(&format!("agents-home/runs/{plan}")))
        .collect();
    assert!(!left.iter().any(|name| name.starts_with("socket")), "{left:?}");
}

#[test]
fn a_node_may_use_only_its_own_changeset_root_and_paths() {
    let program = working(
        "paths = ['src/**']\ntimeout = '300s'",
        "try() { agents \"$@\" >$TMPDIR/out 2>$TMPDIR/err; echo \"$? $(grep -E 'error:|hint:' $TMPDIR/err | head -2 | tr '\\n' ' ')\"; }\n\
         try changeset record $AGENTS_CHANGESET --path a.txt --delete\n\
         try changeset record $AGENTS_CHANGESET --path src/../a.txt --delete\n\
         try changeset record $AGENTS_CHANGESET --path .git/config --content work.sh\n\
         try changeset record 01ARZ3NDEKTSV4RRFFQ69G5FAV --path src/a --content work.sh\n\
         try changeset record $AGENTS_CHANGESET --root / --path src/a --content work.sh\n\
         try changeset record $AGENTS_CHANGESET --path src/a --content missing\n\
         try context append nobody --role user hello\n\
         try config get x.nothing\n\
         AGENTS_TOKEN=wrong try config get plan.concurrency\n\
         try config set x.word other\n\
         try plan apply p\n\
         try changeset start p --actor me\n\
         try run -- true\n\
         try doctor\n",
    );
    program.run("run plan.toml").success();
    let said = printed(&program);
    let lines: Vec<&str> = said.lines().collect();
    let expected = [
        "1 error: node `work` may not change `a.txt`, which is outside its `paths`   hint: add a pattern to `paths`",
        "2 error: ",
        "2 error: ",
        "4 error: changeset 01ARZ3NDEKTSV4RRFFQ69G5FAV does not belong to node `work`   hint: agents changeset record \"$AGENTS_CHANGESET\"",
        "2 error: `/` is not the root of node `work`   hint: ",
        "3 error: cannot read `",
        "3 error: there is no context `nobody`",
        "3 error: `x.nothing` is not set   hint: ",
        "4 error: no running node has this token   hint: ",
        "2 error: `agents config set` cannot be used in the sandbox of a run   hint: in a sandbox, use",
        "2 error: `agents plan apply` cannot be used",
        "2 error: `agents changeset start` cannot be used",
        "2 error: `agents run` cannot be used",
        "2 error: `agents doctor` cannot be used",
    ];
    assert_eq!(lines.len(), expected.len(), "{said}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "`{line}` is not `{expected}`");
    }
    assert!(text(&program.run("plan show p").success()).contains("  work         0  sealed"));
}

#[test]
fn an_actor_may_use_another_home_folder() {
    let program = working(
        "timeout = '300s'",
        "set -e\nexport CLEVERAGENTS_HOME=$TMPDIR/home\nagents config set x.word own --scope global\nagents config get x.word\n\
         agents --home $TMPDIR/other plan list\n",
    );
    program.run("run plan.toml").success();
    assert!(printed(&program).contains("\nown\n"), "{}", printed(&program));
}

#[test]
fn a_client_of_a_killed_run_does_nothing_by_itself() {
    let program = working(
        "timeout = '300s'",
        "echo again > $TMPDIR/new\nagents changeset record $AGENTS_CHANGESET --path made.txt --content $TMPDIR/new\n\
         echo $AGENTS_SOCKET $AGENTS_TOKEN $AGENTS_CHANGESET > \"$OUT/said\"; echo ready\n\
         [ -e \"$OUT/go\" ] || while :; do sleep 0.1; done\n",
    );
    program.write("out/here", "");
    let out = program.path("out").display().to_string();
    let mut command = program.command("run plan.toml --allow-write out");
    command.env("OUT", &out).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut line = String::new();
    while line.trim_end() != "work | ready" {
        line.clear();
        assert!(lines.read_line(&mut line).expect("it can be read") > 0, "it was not said");
    }
    child.kill().expect("it is there");
    child.wait().expect("it ends");
    let said = program.text("out/said");
    let [socket, token, changeset] = said.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("{said}")
    };
    assert!(std::fs::symlink_metadata(socket).is_ok(), "it is still there, and nobody listens");
    // A surviving actor reaches no run, and does not write the store itself.
    let words = ["changeset", "record", changeset, "--path", "late.txt", "--content", "a.txt"];
    let mut late = program.command_of(&words);
    let late = program.check(late.env("AGENTS_SOCKET", socket).env("AGENTS_TOKEN", token)).code(3);
    assert!(
        stderr_text(&late).contains("the run that started this actor does not answer at"),
        "{}",
        stderr_text(&late)
    );
    assert!(
        stderr_text(&late).contains("hint: agents plan list  # outside of the sandbox"),
        "{}",
        stderr_text(&late)
    );
    drop(lines.read_to_end(&mut Vec::new()));
    program.write("out/go", "");
    program.check(program.command("run --resume p").env("OUT", &out)).success();
    let now = program.text("out/said");
    let [other, token_now, changeset_now] = now.split_whitespace().collect::<Vec<_>>()[..] else {
        panic!("{now}")
    };
    assert!(other != socket && token_now != token && changeset_now != changeset, "{said}{now}");
    assert!(std::fs::symlink_metadata(socket).is_err() && std::fs::symlink_metadata(other).is_err());
    let shown = text(&program.run("plan show p").success());
    assert!(
        shown.contains("  work         1  abandoned") && shown.contains("  work         1  sealed"),
        "{shown}"
    );
    program.run("plan apply p").success();
    assert_eq!(program.text("made.txt"), "again\n");
}
