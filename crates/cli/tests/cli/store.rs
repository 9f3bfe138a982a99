//! `agents store`, and stores on a server.

#[cfg(target_os = "linux")]
mod full_disk;

use std::net::TcpListener;

use snapbox::cmd::OutputAssert;
use snapbox::str;
use testkit::postgres::{Server, server};
use testkit::report::skipped;

use crate::plan::project;
use crate::program::{Program, stderr_text, text};

fn server_or_skip(test: &str) -> Option<&'static Server> {
    server().inspect_err(|reason| skipped(test, reason)).ok()
}

#[test]
fn a_sqlite_store_is_shown_and_copied() {
    let program = project();
    program.run("store status").success().stderr_eq("").stdout_eq(str![[r#"
sqlite:[PLACE]/agents-home/state.db, schema 4
  plans          1
  nodes          0
  changesets     0
  entries        0
  blobs          0
  audit records  1

"#]]);
    program
        .run("store migrate")
        .success()
        .stderr_eq(str![[r#"
sqlite:[PLACE]/agents-home/state.db: schema 4, up to date

"#]])
        .stdout_eq("");
    program
        .run("store copy --from agents-home/state.db --to copy.db")
        .success()
        .stderr_eq(str![[r#"
sqlite:[PLACE]/copy.db: copied and verified 1 plan, 0 changesets

"#]])
        .stdout_eq("");
    program.run("store copy --from nowhere.db --to other.db").code(3).stdout_eq("").stderr_eq(str![[r#"
error: cannot copy `[PLACE]/nowhere.db`
  entity not found

"#]]);
    assert!(!program.path("other.db").exists() && !program.path("nowhere.db").exists());
    // The copy has a plan that the original lacks.
    let copy = program.path("copy.db");
    program.run(&format!("plan create --name other -c store.url=sqlite:{}", copy.display())).success();
    program.run("store copy --from agents-home/state.db --to copy.db").code(4).stdout_eq("").stderr_eq(str![
        [r#"
error: `sqlite:[PLACE]/copy.db` is not a copy of `sqlite:[PLACE]/agents-home/state.db`: it has other plans
  hint: agents store copy --from URL --to URL  # into an empty store, with no writers

"#]
    ]);
}

#[test]
fn a_password_on_the_command_line_is_refused() {
    let program = project();
    for url in [
        "postgres://ana:hunter2@host/db",
        "postgres://ana@host/db?password=hunter2",
        "postgres://ana:a?hunter2@host/db",
        "postgres://ana:a@hunter2@host/db",
    ] {
        let words = ["store", "copy", "--from", "agents-home/state.db", "--to", url];
        let refused = stderr_text(&program.run_of(&words).code(2).stdout_eq("").stderr_eq(str![[r#"
error: `--to` holds a password; other users of this machine can see arguments
  hint: pass it in PGPASSWORD, or in the file that PGPASSFILE names

"#]]));
        assert!(!refused.contains("hunter2"));
        for words in
            [&["plan", "list", "-c", &format!("store.url={url}")][..], &["config", "set", "store.url", url]]
        {
            let refused = stderr_text(&program.run_of(words).code(2).stdout_eq(""));
            assert!(refused.contains("agents config set store.url --stdin"), "{refused}");
            assert!(!refused.contains("hunter2"), "{refused}");
        }
    }
}

#[test]
fn no_part_of_a_password_is_printed() {
    let program = project();
    for (url, shown) in [
        (
            "postgres://ana@host/db?password=hun@ter2&sslmode=disable",
            "postgres://ana@host/db?password=[REDACTED]&sslmode=disable",
        ),
        ("postgres://ana:hun@ter2@host/db", "postgres://ana:[REDACTED]@host/db"),
        ("postgres://ana:hun?ter2@host/db", "postgres://ana:[REDACTED]@host/db"),
        ("postgres://ana:hun/ter2@host/db", "postgres://ana:[REDACTED]@host/db"),
    ] {
        let run = |words: &str| program.run_with("CLEVERAGENTS_STORE_URL", url, words);
        run("config get store.url").success().stdout_eq(format!("{shown}\n"));
        run("config get store.url --reveal").success().stdout_eq(format!("{url}\n"));
        for words in [
            "config list",
            "config explain store.url",
            "config get store.url --format json",
            "plan list -c store.wait=1ms --log trace",
            "store status -c store.wait=1ms",
            "doctor -c store.wait=1ms",
        ] {
            let output = run(words);
            let text = [&output.get_output().stdout[..], &output.get_output().stderr].concat();
            let text = String::from_utf8(text).expect("it is text");
            assert!(!text.contains("ter2"), "{words}: {text}");
        }
    }
}

/// The first line of an error, with the port replaced.
fn first_line(assert: &OutputAssert, server: &Server) -> String {
    let stderr_text = stderr_text(assert);
    assert!(!stderr_text.contains("secret"), "{stderr_text}");
    assert!(stderr_text.contains("\n  hint: "), "{stderr_text}");
    stderr_text.lines().next().unwrap_or_default().replace(&format!(":{}", server.port()), ":PORT")
}

#[test]
fn an_unusable_server_is_reported_with_the_reason() {
    let Some(server) = server_or_skip("cli-postgres-refusals") else { return };
    let program = Program::in_project();
    let list = |url: &str| program.run_with("CLEVERAGENTS_STORE_URL", url, "plan list -c store.wait=1ms");
    let line = |assert: &OutputAssert| first_line(assert, server);

    let bad = list("postgres://ana:secret@/db").code(2).stdout_eq("");
    assert_eq!(line(&bad), "error: invalid store URL: it names no host");

    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("it has an address").port();
    drop(listener);
    let nobody = list(&format!("postgres://ana:secret@127.0.0.1:{port}/db")).code(1).stdout_eq("");
    let expected = format!("error: cannot reach store `postgres://ana@127.0.0.1:{port}/db`");
    assert_eq!(line(&nobody), expected);

    let database = server.database();
    server.sql("postgres", "CREATE ROLE strict LOGIN PASSWORD 'right secret'");
    let strict = server.url_of("strict", &database);
    let wrong = list(&strict.replace("strict@", "strict:wrong-secret@")).code(1).stdout_eq("");
    let place = format!("`postgres://strict@127.0.0.1:PORT/{database}`");
    assert_eq!(line(&wrong), format!("error: the server of store {place} denies access"));
    // The right password, from the environment.
    server.sql("postgres", &format!("GRANT CREATE ON DATABASE {database} TO strict"));
    let mut command = program.command("plan list");
    program.check(command.env("CLEVERAGENTS_STORE_URL", &strict).env("PGPASSWORD", "right secret")).success();

    let url = server.url(&database);
    let place = format!("`postgres://postgres@127.0.0.1:PORT/{database}`");
    server.sql(&database, "UPDATE agents.versions SET version = 7");
    let newer = list(&url).code(1).stdout_eq("");
    assert_eq!(
        line(&newer),
        format!("error: store {place} has schema version 7; this program supports version 5")
    );
    server.sql("postgres", &format!("ALTER DATABASE {database} SET default_transaction_read_only = on"));
    let standby = list(&url).code(1).stdout_eq("");
    assert_eq!(line(&standby), format!("error: store {place} is read-only"));
}

#[test]
fn plans_move_to_a_server_and_back() {
    let Some(server) = server_or_skip("cli-postgres-plans") else { return };
    let program = project();
    let url = server.url(&server.database());
    program.run_of(&["store", "copy", "--from", "agents-home/state.db", "--to", &url]).success().stderr_eq(
        str![[r#"
postgres://[..]: copied and verified 1 plan, 0 changesets

"#]],
    );
    let run = |words: &str| program.run_with("CLEVERAGENTS_STORE_URL", &url, words);
    let changeset = text(&run("changeset start work --actor coder").success()).trim().to_owned();
    program.write("content", "ONE\n");
    run(&format!("changeset record {changeset} --path a.txt --content content")).success();
    run(&format!("changeset seal {changeset}")).success();
    run("plan apply work").success();
    assert_eq!(program.text("a.txt"), "ONE\n");
    run("plan undo work").success();
    assert_eq!(program.text("a.txt"), "one\ntwo\nthree\nfour\nfive\n");
    run("audit verify").success();
    assert!(!text(&run("doctor").success()).contains("problem"));
    assert!(text(&run("store status").success()).contains("  plans           2\n"));
    assert!(stderr_text(&run("store migrate").success()).contains(": schema 5, up to date"));
    program.run_of(&["store", "copy", "--from", &url, "--to", "back.db"]).success().stderr_eq(str![[r#"
sqlite:[PLACE]/back.db: copied and verified 2 plans, 4 changesets

"#]]);
    let back = program.path("back.db");
    program.run(&format!("audit verify -c store.url=sqlite:{}", back.display())).success();
}
