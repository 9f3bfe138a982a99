//! Raw messages on the socket of a run.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::fixture::{Actor, Fixture, answer, key};

fn get(actor: &Actor, change: impl FnOnce(&mut Value)) -> Option<Value> {
    let params = json!({ "key": "plan.concurrency", "reveal": false });
    let token = actor.variable("AGENTS_TOKEN");
    let mut request = json!({ "version": 2, "token": token, "method": "get", "params": params });
    change(&mut request);
    actor.say(format!("{request}\n").as_bytes())
}

#[track_caller]
fn check_refused(answer: Option<Value>, code: &str, text: &str) {
    let answer = answer.expect("there is an answer");
    assert_eq!((&answer["version"], &answer["error"]["code"]), (&json!(2), &json!(code)), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains(text), "{answer}");
    assert!(answer["error"]["hint"].is_array() && answer["error"]["kind"].is_string(), "{answer}");
}

#[test]
fn invalid_requests_are_refused_and_change_nothing() {
    let fixture = Fixture::new();
    let summary = fixture.play(&["work"], "", |actor| {
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let socket = Path::new(actor.variable("AGENTS_SOCKET"));
        assert_eq!((mode(socket), mode(socket.parent().unwrap())), (0o600, 0o700));
        assert_eq!(get(actor, |_| {}).unwrap()["result"]["value"], 4);
        check_refused(actor.say(b"hello\n"), "bad-request", "expected value");
        check_refused(actor.say(b"{\"version\":7}\n"), "bad-request", "version 7");
        check_refused(actor.say(&vec![b'{'; 400 << 10]), "bad-request", "longer than 262144 bytes");
        check_refused(
            get(actor, |request| request["method"] = json!("rule")),
            "bad-request",
            "unknown method `rule`",
        );
        check_refused(get(actor, |request| request["params"] = json!([])), "bad-request", "");
        check_refused(
            get(actor, |request| request["more"] = json!(1)),
            "bad-request",
            "unknown field `more`",
        );
        check_refused(get(actor, |request| request["token"] = json!("")), "invalid-token", "no running node");
        // A body that is missing, too long, or not a list of messages.
        let append = |bodies: Value, body: &str| {
            let params = json!({ "name": "talk", "if_revision": null });
            let token = actor.variable("AGENTS_TOKEN");
            let line =
                json!({ "version": 2, "token": token, "method": "append", "params": params, "body_lengths": bodies });
            actor.say(format!("{line}\n{body}").as_bytes())
        };
        check_refused(append(json!([]), ""), "bad-request", "is missing");
        check_refused(append(json!([17 << 20]), ""), "bad-request", "longer than 16777216 bytes");
        check_refused(append(json!([1_u64 << 40]), ""), "bad-request", "`sandbox.max-file-size`");
        check_refused(append(json!([2]), "{}"), "bad-request", "invalid type");
        // Several requests on one connection.
        let mut stream = actor.connect();
        for word in ["a", "b"] {
            stream.write_all(format!("{}{word}", actor.request(word, 1)).as_bytes()).unwrap();
            assert_eq!(answer(&stream).unwrap()["result"]["changeset"], actor.variable("AGENTS_CHANGESET"));
        }
        // An incomplete body is not recorded.
        stream.write_all(format!("{}half", actor.request("c", 8)).as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(answer(&stream).unwrap()["error"]["causes"].to_string().contains("incomplete"));
        // Neither is a request without an end.
        let line = actor.request("d", 0);
        let mut stream = actor.connect();
        stream.write_all(line.trim_end().as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(answer(&stream), None);
    });
    assert_eq!(fixture.entries(&summary, "work"), ["create a - 1", "create b - 1"]);
}

#[test]
fn idle_connections_make_room_for_new_ones() {
    let fixture = Fixture::new();
    fixture.play(&["work"], "", |actor| {
        let held: Vec<_> = (0..128).map(|_| actor.connect()).collect();
        actor.client.get(&key("plan.concurrency"), cleveragents::Reveal::No).unwrap();
        // The oldest one was closed for it.
        assert_eq!(answer(&held[0]), None);
    });
}
