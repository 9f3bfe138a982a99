//! Many threads on one file: no update is lost, and no reader sees a partial file.

use std::thread;

use config::{ConfigService, Scope, Value};
use testkit::contended_config::{self, name_of, value_of};

use crate::support::{Fixture, key};

const WRITERS: u32 = 8;
const SETS: usize = 50;

fn set_all(service: &ConfigService, writer: u32) {
    for n in 0..SETS {
        let name = name_of(writer, n);
        service.set_value(Scope::Global, &key(&name), &value_of(&name).to_string()).unwrap();
    }
}

#[test]
fn eight_threads_lose_no_update() {
    let fixture = Fixture::new();
    fixture.write(Scope::Global, contended_config::text());
    let (service, file) = (&fixture.service(), fixture.file(Scope::Global));
    let (_, polls) = contended_config::poll_during(&file, || {
        thread::scope(|scope| {
            for writer in 0..WRITERS {
                scope.spawn(move || set_all(service, writer));
            }
        });
    });
    assert!(polls > 0);
    let names: Vec<_> = (0..WRITERS).flat_map(|writer| (0..SETS).map(move |n| name_of(writer, n))).collect();
    assert_eq!(contended_config::check(&file, &names), names.len());
}

#[test]
fn the_same_key_has_the_value_of_one_writer() {
    let fixture = Fixture::new();
    let service = fixture.service();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let service = &service;
            scope.spawn(move || {
                for n in 0..10 {
                    service.set_value(Scope::Global, &key("x.same"), &format!("1{writer}{n}")).unwrap();
                }
            });
        }
    });
    // The last writer wrote its last value last.
    let Some(Value::Integer(last)) = service.get(&key("x.same")).unwrap() else { panic!("no value") };
    assert_eq!(last % 10, 9);
    assert_eq!(fixture.read(Scope::Global), format!("x.same = {last}\n"));
}
