//! What actors ask the run that started them, answered: what `agents changeset record`, `agents context append` and `agents config get` come to in a sandbox.
//!
//! A node records into its own changeset, below its own root, paths that its `writes` allow. It appends to contexts that are there, any of
//! them, as the person who runs it could; it makes, cuts and removes none. It reads configuration as the run sees it, without secrets.

use std::ffi::OsString;
use std::path::Path;

use config::Key;
use executor::rpc::{Answers, Append, Bodies, Call, Deed, Get, Given, Record, Seat, Turn};
use filetx::Wait;
use plan::{Act, ContentInput, ContentSource, PathBytes, Tool};
use serde::Serialize;
use serde_json::{Value, json};

use crate::plans::changesets::{PATCH_BYTES_MAX, USUAL_MODE, patched};
use crate::plans::report::RecordedEntry;
use crate::{Agents, Draft, Error, HOME_VARIABLE, Problem, Reveal, Revision};

/// The most that messages of one request may have: they are held in memory.
const MESSAGES_BYTES_MAX: u64 = 16 << 20;

/// Answers in the name of whoever runs the actors.
#[derive(Debug)]
pub(crate) struct Answering {
    agents: Agents,
}

impl Answering {
    pub(crate) fn new(agents: &Agents) -> Self {
        // Nobody is there who could be told that something waits.
        let wait = Wait { on_wait: None, ..agents.wait() };
        Self { agents: agents.clone().with_wait(wait) }
    }

    fn record(&self, seat: &Seat, ask: Record, bodies: &mut Bodies<'_>) -> Result<Value, Error> {
        let Record { changeset, root, path, deed, base, tool } = ask;
        seat.check_changeset(&changeset)?;
        root.map_or(Ok(()), |root| seat.check_root(Path::new(&root)))?;
        let path = path_of(&path)?;
        seat.check_path(&path)?;
        let tool = tool.map(Tool::parse).transpose().map_err(plan::Error::from)?;
        // What may be long goes into the store as it comes in; only then others of this node have to wait.
        let act = match deed {
            Deed::Patch => return self.record_patch(seat, changeset, path, base, tool, bodies),
            Deed::Content { mode } => {
                let piece =
                    ContentInput::from_reader(seat.store(), mode.unwrap_or(USUAL_MODE), &mut bodies.next()?)?;
                Act::Write { content: ContentSource::Input(piece), mode }
            }
            Deed::Delete => Act::Delete,
            Deed::RenameTo(to) => Act::Rename { to: path_of(&to)? },
            Deed::Mode(mode) => Act::Mode(mode),
            Deed::Symlink(target) => Act::Symlink { target: target.into_bytes() },
        };
        let piece = base_piece(seat, base, bodies)?;
        let turn = seat.turn();
        let given = given(&turn, &path, base, piece)?;
        let sequence = turn.record(path, act, given, tool)?;
        Ok(said(&RecordedEntry { changeset, sequence }))
    }

    /// A patch is laid over what the path holds, so nobody else of the node records meanwhile.
    fn record_patch(
        &self,
        seat: &Seat,
        changeset: String,
        path: PathBytes,
        base: Option<Given>,
        tool: Option<Tool>,
        bodies: &mut Bodies<'_>,
    ) -> Result<Value, Error> {
        let turn = seat.turn();
        let patch = bodies.next_whole(PATCH_BYTES_MAX)?;
        let piece = base_piece(seat, base, bodies)?;
        let now = given(&turn, &path, base, piece)?.map_or_else(|| turn.now(&path), Ok)?;
        let bytes = patched(
            &path,
            now.as_ref(),
            crate::plans::changesets::bytes(seat.store(), now.as_ref())?,
            &patch,
        )?;
        let act = Act::Write { content: ContentSource::Bytes(bytes), mode: None };
        let sequence = turn.record(path, act, Some(now), tool)?;
        Ok(said(&RecordedEntry { changeset, sequence }))
    }

    fn append(&self, seat: &Seat, ask: Append, bodies: &mut Bodies<'_>) -> Result<Value, Error> {
        let _turn = seat.turn();
        let text = bodies.next_whole(MESSAGES_BYTES_MAX)?;
        let drafts: Vec<Draft> = serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))?;
        Ok(said(&self.agents.contexts()?.append(
            &ask.name.parse()?,
            &drafts,
            ask.if_revision.map(Revision),
        )?))
    }

    fn get(&self, ask: Get) -> Result<Value, Error> {
        let got = self.agents.config_snapshot().get(&Key::parse(&ask.key)?, Reveal::No)?;
        if ask.reveal && got.entry.secret {
            return Err(Error::SecretInSandbox { key: got.entry.key.to_string() });
        }
        let mut answer = said(&got);
        answer["problems"] = got.problems.iter().map(refusal).collect();
        Ok(answer)
    }
}

impl Answers for Answering {
    fn answer(&self, seat: &Seat, call: Call, mut bodies: Bodies<'_>) -> Result<Value, Value> {
        let answered = match call {
            Call::Record(record) => self.record(seat, record, &mut bodies),
            Call::Append(append) => self.append(seat, append, &mut bodies),
            Call::Get(get) => self.get(get),
        };
        answered.map_err(|error| refusal(&self.agents.problem(&error)))
    }

    fn refusal(&self, error: executor::Error) -> Value {
        refusal(&self.agents.problem(&error.into()))
    }

    /// Commands in a sandbox mean the home of the run, however it was named to that.
    fn variables(&self) -> Vec<(OsString, OsString)> {
        self.agents.home().map(|home| (HOME_VARIABLE.into(), home.into())).into_iter().collect()
    }
}

/// Anything as it goes out.
fn said(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).expect("answers are made of text, numbers and lists")
}

/// A problem as it goes out, with its kind.
fn refusal(problem: &Problem) -> Value {
    let mut refusal = said(problem);
    refusal["kind"] = json!(problem.kind);
    refusal
}

fn bad(reason: String) -> Error {
    executor::Error::BadRequest { reason }.into()
}

fn path_of(text: &str) -> Result<PathBytes, Error> {
    Ok(PathBytes::parse(text.as_bytes()).map_err(plan::Error::from)?)
}

/// The base that follows a request, if one does. Its permission bits are those of what is there, which is not known yet.
fn base_piece(
    seat: &Seat,
    base: Option<Given>,
    bodies: &mut Bodies<'_>,
) -> Result<Option<ContentInput>, Error> {
    match base {
        Some(Given::Content) => {
            Ok(Some(ContentInput::from_reader(seat.store(), USUAL_MODE, &mut bodies.next()?)?))
        }
        _ => Ok(None),
    }
}

/// The base that was given: nothing when none was.
fn given(
    turn: &Turn<'_>,
    path: &PathBytes,
    base: Option<Given>,
    piece: Option<ContentInput>,
) -> Result<Option<Option<ContentInput>>, Error> {
    let Some(base) = base else { return Ok(None) };
    let Some(mut piece) = piece.filter(|_| base == Given::Content) else { return Ok(Some(None)) };
    if let Some(now) = turn.now(path)? {
        piece.content.mode = now.content.mode;
    }
    Ok(Some(Some(piece)))
}
