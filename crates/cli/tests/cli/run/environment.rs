//! The environment of actors has none of our secrets.

use super::project;
use crate::program::stderr_text;

const SECRET: &str = "hunter2";
/// Shows the environment and the arguments of every process from the actor up.
const SHOW: &str =
    "env; tr '\\0' ' ' < /proc/$$/cmdline; echo; test -n \"$AGENTS_SOCKET\" && echo has a socket";

#[test]
fn actors_do_not_inherit_our_secrets() {
    let program = project();
    let url = format!("sqlite:{}", program.path(&format!("{SECRET}.db")).display());
    let secret = ["PGPASSWORD", "PGPASSFILE", "PGHOST", "PGSSLKEY", "CLEVERAGENTS_SERVER_TOKEN"];
    let mut run = program.command_of(&["run", "--", "sh", "-c", SHOW]);
    run.env("CLEVERAGENTS_STORE_URL", &url).env("CLEVERAGENTS_SERVER_URL", SECRET).env("MINE", "inherited");
    run.envs(secret.map(|name| (name, SECRET)));
    let shown = stderr_text(&program.check(&mut run).success());
    assert!(shown.contains("sh | MINE=inherited\n"), "the control: others are inherited\n{shown}");
    assert!(shown.contains("sh | has a socket\n"), "{shown}");
    assert!(!shown.contains(SECRET), "{shown}");

    let mut run = program.command_of(&["run", "--env", "PGHOST=other", "--", "sh", "-c", "echo $PGHOST"]);
    let shown = stderr_text(&program.check(run.env("PGHOST", SECRET)).success());
    assert!(shown.contains("sh | other\n"), "a node may set them\n{shown}");
}
