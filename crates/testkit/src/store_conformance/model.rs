//! Any sequence of calls matches a model in memory: the same answers, refusals and state.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use store::{
    ChangesetId, Epoch, NewChangeset, OpenChangesets, PlanId, PlanStep, Recording, RequestId, Resource,
    State, Store, Version,
};

use super::fixtures::*;

const PLANS: usize = 2;
const CHANGESETS: usize = 3;
const REQUESTS: usize = 4;
const OWNERS: [&str; 2] = ["one", "two"];
const STATES: [&str; 3] = ["running", "ready", "cancelled"];

/// A call, in numbers that the model maps to ids.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields are those of the calls")]
pub enum Call {
    Step { plan: usize, from: usize, version: u64, to: usize, open: OpenChangesets },
    Start { plan: usize, changeset: usize, owner: usize, expired: bool, only_running: bool },
    Record { changeset: usize, epoch: u64, request: usize, paths: usize },
    Seal { changeset: usize, epoch: u64 },
    Abandon { changeset: usize, epoch: u64 },
    Acquire { changeset: usize, owner: usize, expired: bool },
    Release { changeset: usize, owner: usize, epoch: u64 },
    Reopen,
}

/// Generates any call.
pub fn call() -> impl Strategy<Value = Call> {
    let open = prop_oneof![
        3 => Just(OpenChangesets::Leave),
        1 => Just(OpenChangesets::Refuse),
        1 => Just(OpenChangesets::Abandon)
    ];
    let (changeset, epoch, owner) = (0..CHANGESETS, 1..4_u64, 0..OWNERS.len());
    prop_oneof![
        2 => (0..PLANS, 0..STATES.len(), 1..4_u64, 0..STATES.len(), open)
            .prop_map(|(plan, from, version, to, open)| Call::Step { plan, from, version, to, open }),
        4 => (0..PLANS, changeset.clone(), owner.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(plan, changeset, owner, expired, only_running)| Call::Start {
                plan, changeset, owner, expired, only_running
            }),
        8 => (changeset.clone(), epoch.clone(), 0..REQUESTS, 1..3_usize)
            .prop_map(|(changeset, epoch, request, paths)| Call::Record { changeset, epoch, request, paths }),
        1 => (changeset.clone(), epoch.clone()).prop_map(|(changeset, epoch)| Call::Seal { changeset, epoch }),
        1 => (changeset.clone(), epoch.clone()).prop_map(|(changeset, epoch)| Call::Abandon { changeset, epoch }),
        3 => (changeset.clone(), owner.clone(), any::<bool>())
            .prop_map(|(changeset, owner, expired)| Call::Acquire { changeset, owner, expired }),
        2 => (changeset, owner, epoch)
            .prop_map(|(changeset, owner, epoch)| Call::Release { changeset, owner, epoch }),
        1 => Just(Call::Reopen),
    ]
}

/// The answer of a call: a number, or the code of a refusal.
type Answer = Result<u64, &'static str>;

#[derive(Clone)]
struct ModelChangeset {
    plan: usize,
    status: &'static str,
    owner: Option<usize>,
    expired: bool,
    epoch: u64,
    entries: Vec<(usize, usize)>,
    requests: BTreeMap<usize, (u64, usize)>,
}

struct Model {
    plans: [(usize, u64); PLANS],
    changesets: BTreeMap<usize, ModelChangeset>,
}

impl Model {
    fn new() -> Self {
        Self { plans: [(0, 1); PLANS], changesets: BTreeMap::new() }
    }

    fn answer(&mut self, call: &Call) -> Answer {
        match *call {
            Call::Step { plan, from, version, to, open } => {
                if self.plans[plan] != (from, version) {
                    return Err("conflict");
                }
                let of_plan = self.changesets.values_mut().filter(|changeset| changeset.plan == plan);
                let opened: Vec<_> = of_plan.filter(|changeset| changeset.status == "open").collect();
                if open == OpenChangesets::Refuse && !opened.is_empty() {
                    return Err("changesets-open");
                }
                if open == OpenChangesets::Abandon {
                    for changeset in opened {
                        (changeset.status, changeset.owner) = ("abandoned", None);
                        changeset.epoch += 1;
                    }
                }
                self.plans[plan] = (to, version + 1);
                Ok(version + 1)
            }
            Call::Start { plan, changeset, owner, expired, only_running } => {
                match self.changesets.get(&changeset) {
                    Some(there) if there.plan != plan => Err("id-reused"),
                    Some(_) => self.acquire(changeset, owner, expired),
                    None if only_running && self.plans[plan].0 != 0 => Err("wrong-state"),
                    None => {
                        let new = ModelChangeset {
                            plan,
                            status: "open",
                            owner: Some(owner),
                            expired,
                            epoch: 1,
                            entries: Vec::new(),
                            requests: BTreeMap::new(),
                        };
                        self.changesets.insert(changeset, new);
                        Ok(1)
                    }
                }
            }
            Call::Record { changeset, epoch, request, paths } => {
                let Some(changeset) = self.changesets.get_mut(&changeset) else { return Err("not-found") };
                if let Some((first, count)) = changeset.requests.get(&request) {
                    return if *count == paths { Ok(*first) } else { Err("id-reused") };
                }
                changeset.writable(epoch)?;
                let first = changeset.entries.len() as u64 + 1;
                changeset.entries.extend((0..paths).map(|path| (request, path)));
                changeset.requests.insert(request, (first, paths));
                Ok(first)
            }
            Call::Seal { changeset, epoch } => self.end(changeset, epoch, "sealed"),
            Call::Abandon { changeset, epoch } => self.end(changeset, epoch, "abandoned"),
            Call::Acquire { changeset, owner, expired } => self.acquire(changeset, owner, expired),
            Call::Release { changeset, owner, epoch } => {
                let Some(changeset) = self.changesets.get_mut(&changeset) else { return Err("not-found") };
                if changeset.owner.is_none() && changeset.epoch == epoch + 1 {
                    return Ok(0);
                }
                if changeset.owner != Some(owner) || changeset.epoch != epoch {
                    return Err("lease-stale");
                }
                changeset.owner = None;
                changeset.epoch += 1;
                Ok(0)
            }
            Call::Reopen => Ok(0),
        }
    }

    fn end(&mut self, changeset: usize, epoch: u64, status: &'static str) -> Answer {
        let Some(changeset) = self.changesets.get_mut(&changeset) else { return Err("not-found") };
        if changeset.status != status || changeset.epoch != epoch {
            changeset.writable(epoch)?;
            (changeset.status, changeset.owner) = (status, None);
        }
        Ok(changeset.entries.len() as u64)
    }

    fn acquire(&mut self, changeset: usize, owner: usize, expired: bool) -> Answer {
        let Some(changeset) = self.changesets.get_mut(&changeset) else { return Err("not-found") };
        if changeset.status != "open" {
            return Err("changeset-closed");
        }
        if changeset.owner != Some(owner) {
            if changeset.owner.is_some() && !changeset.expired {
                return Err("lease-held");
            }
            changeset.epoch += 1;
        }
        (changeset.owner, changeset.expired) = (Some(owner), expired);
        Ok(changeset.epoch)
    }
}

impl ModelChangeset {
    fn writable(&self, epoch: u64) -> Result<(), &'static str> {
        match self.status {
            "open" if self.epoch == epoch => Ok(()),
            "open" => Err("lease-stale"),
            _ => Err("changeset-closed"),
        }
    }
}

/// The ids behind the numbers of the model.
struct Ids {
    plans: [PlanId; PLANS],
    changesets: [ChangesetId; CHANGESETS],
    requests: [RequestId; REQUESTS],
}

fn entry_path(request: usize, place: usize) -> String {
    format!("{request}/{place}")
}

fn duration(expired: bool) -> Duration {
    if expired { Duration::ZERO } else { LONG }
}

fn real_answer(store: &dyn Store, ids: &Ids, call: &Call) -> Answer {
    let result = match *call {
        Call::Step { plan, from, version, to, open } => {
            let seen = store.plan(ids.plans[plan]).unwrap();
            let (from, version) = (state(STATES[from]), Version(version));
            store
                .step_plan(&PlanStep { from, version, open, ..step(&seen, STATES[to]) })
                .map(|version| version.0)
        }
        Call::Start { plan, changeset, owner, expired, only_running } => store
            .start_changeset(&NewChangeset {
                id: ids.changesets[changeset],
                lease: lease_request(OWNERS[owner], duration(expired)),
                plan_states: only_running.then(|| state("running")).into_iter().collect::<Vec<State>>(),
                ..new_changeset(ids.plans[plan], "coder")
            })
            .map(|lease| lease.epoch.0),
        Call::Record { changeset, epoch, request, paths } => {
            let entries = (0..paths).map(|place| deletion(&entry_path(request, place))).collect();
            let recording = Recording { request: ids.requests[request], entries, blobs: Vec::new() };
            store.record(ids.changesets[changeset], Epoch(epoch), &recording).map(|recorded| recorded.first)
        }
        Call::Seal { changeset, epoch } => {
            store.seal(ids.changesets[changeset], Epoch(epoch)).map(|changeset| changeset.entries)
        }
        Call::Abandon { changeset, epoch } => store
            .abandon(ids.changesets[changeset], Epoch(epoch), "given up")
            .map(|changeset| changeset.entries),
        Call::Acquire { changeset, owner, expired } => {
            let resource = Resource::Changeset(ids.changesets[changeset]);
            store
                .acquire(resource, &lease_request(OWNERS[owner], duration(expired)))
                .map(|lease| lease.epoch.0)
        }
        Call::Release { changeset, owner, epoch } => {
            let resource = Resource::Changeset(ids.changesets[changeset]);
            let owner = lease_request(OWNERS[owner], LONG).owner;
            let expires_at = store::Time::now();
            store.release(&store::Lease { resource, owner, epoch: Epoch(epoch), expires_at }).map(|()| 0)
        }
        Call::Reopen => Ok(0),
    };
    result.map_err(|error| error.code())
}

fn check_state(store: &dyn Store, ids: &Ids, model: &Model) {
    for (plan, (state, version)) in model.plans.iter().enumerate() {
        let found = store.plan(ids.plans[plan]).unwrap();
        assert_eq!((found.state.as_str(), found.version), (STATES[*state], Version(*version)));
    }
    for (number, expected) in &model.changesets {
        let found = store.changeset(ids.changesets[*number]).unwrap();
        assert_eq!((found.status.as_str(), found.plan), (expected.status, ids.plans[expected.plan]));
        let paths: Vec<String> =
            all_entries(store, found.id).iter().map(|entry| entry.path.show().into_owned()).collect();
        let wanted: Vec<String> =
            expected.entries.iter().map(|(request, place)| entry_path(*request, *place)).collect();
        assert_eq!(paths, wanted);
    }
    assert_eq!(store::verify(store, &[]).unwrap().findings, []);
    assert_eq!(store.check().unwrap(), []);
}

/// Makes the calls on a store and on the model. `open` opens the same store each time; it is empty
/// at first.
pub fn check(calls: &[Call], open: impl Fn() -> Arc<dyn Store>) {
    let mut store = open();
    let ids = Ids {
        plans: std::array::from_fn(|_| make_plan(&*store).id),
        changesets: std::array::from_fn(|_| ChangesetId::new()),
        requests: std::array::from_fn(|_| RequestId::new()),
    };
    let mut model = Model::new();
    for call in calls {
        if matches!(call, Call::Reopen) {
            drop(store);
            store = open();
        }
        assert_eq!(real_answer(&*store, &ids, call), model.answer(call), "{call:?}");
    }
    check_state(&*store, &ids, &model);
}
