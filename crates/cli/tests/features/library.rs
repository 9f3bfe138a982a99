//! Steps about the library: batches with setters, long-lived services, registration of keys.

use config::{ConfigTransaction, Declaration, Error, Key, Registry, Scope, Secrecy, Type, Value};
use cucumber::{given, then, when};

use crate::world::World;

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

/// A setter that joins the transaction of its caller.
fn set_twice(tx: &mut ConfigTransaction<'_>, name: &str, of: &str) -> Result<(), Error> {
    let Some(Value::Integer(staged)) = tx.get(&key(of))? else { panic!("{of} is no number") };
    tx.set_value(&key(name), &(2 * staged).to_string())
}

#[when(
    expr = "a batch sets {string} to {string} and then calls a setter that sets {string} to twice {string}"
)]
fn batch(world: &mut World, outer: String, value: String, inner: String, of: String) {
    world.remember();
    let syncs = filetx::sync_count();
    let done = world.service().batch(Scope::Global, |tx| {
        tx.set_value(&key(&outer), &value)?;
        set_twice(tx, &inner, &of)
    });
    done.unwrap();
    // Two syncs are one replacement.
    world.sets = vec![Ok(()); ((filetx::sync_count() - syncs) / 2) as usize];
}

#[then("the file was replaced once")]
fn replaced_once(world: &mut World) {
    assert_eq!(world.sets.len(), 1);
}

#[when(expr = "a batch calls a setter of {string} and then fails")]
fn failing_batch(world: &mut World, inner: String) {
    world.remember();
    let failed = world.service().batch(Scope::Global, |tx| {
        set_twice(tx, &inner, "x.a")?;
        tx.set_value(&key("core.format"), "xml")
    });
    world.outcome = Some(failed.map(drop).map_err(|error| error.to_string()));
}

#[when(expr = "a batch sets {string} beside itself instead of through itself")]
fn batch_beside(world: &mut World, inner: String) {
    world.remember();
    let service = world.service();
    let failed = service.batch(Scope::Global, |tx| {
        tx.set_value(&key("x.a"), "2")?;
        service.set_value(Scope::Global, &key(&inner), "1").map(drop)
    });
    world.outcome = Some(failed.map(drop).map_err(|error| error.to_string()));
}

#[then("the batch failed")]
fn batch_failed(world: &mut World) {
    assert!(matches!(world.outcome, Some(Err(_))), "{:?}", world.outcome);
}

#[given("a process that read the file and lives on")]
fn living(world: &mut World) {
    let service = world.service();
    assert!(!service.list(None).entries.is_empty());
    world.living = Some(service);
}

#[when(expr = "the process that lives on sets {string} to {string}")]
fn living_sets(world: &mut World, name: String, value: String) {
    let service = world.living.as_ref().expect("it lives on");
    service.set_value(Scope::Global, &key(&name), &value).unwrap();
}

#[when(expr = "the keys {string} and {string} are registered")]
fn register(world: &mut World, one: String, other: String) {
    let declare = |key: String| Declaration {
        key: key.leak(),
        value_type: Type::String,
        default: None,
        scopes: Scope::ALL,
        secrecy: Secrecy::Open,
        help: "for a test",
    };
    let built = Registry::new([one, other].map(declare));
    world.outcome = Some(built.map(drop).map_err(|mistake| mistake.to_string()));
}

#[then(expr = "registering fails and names {string}")]
fn registering_fails(world: &mut World, name: String) {
    let failed = matches!(&world.outcome, Some(Err(mistake)) if mistake.contains(&name));
    assert!(failed, "{:?}", world.outcome);
}

#[then("registering succeeds")]
fn registering_succeeds(world: &mut World) {
    assert_eq!(world.outcome, Some(Ok(())));
}
