//! Handles requests of actors: `agents changeset record`, `agents context append` and `agents config get`
//! in a sandbox.
//!
//! A node records into its own changeset, below its own root, within its `paths`. It appends to any
//! existing context, with the rights of the person who runs it, and creates, cuts or removes none. It
//! reads configuration as the run sees it, without secrets.

use std::ffi::OsString;
use std::path::Path;

use config::Key;
use executor::rpc::{
    AppendParams, BaseParam, Bodies, EditParam, GetParams, Method, NodeSession, RecordGuard, RecordParams,
    RequestHandler,
};
use filetx::Wait;
use plan::{ContentInput, ContentSource, PathBytes, Tool};
use serde::Serialize;
use serde_json::{Value, json};

use crate::plans::changesets::{USUAL_MODE, patched};
use crate::plans::report::RecordedEntry;
use crate::{Agents, Draft, Error, HOME_VARIABLE, Problem, Reveal, Revision};

/// The longest messages of one request: they are held in memory.
const MESSAGES_BYTES_MAX: u64 = 16 << 20;

/// Handles requests with the rights of the person who runs the actors.
#[derive(Debug)]
pub(crate) struct Handler {
    agents: Agents,
}

impl Handler {
    pub(crate) fn new(agents: &Agents) -> Self {
        // A request has no terminal to report waits to.
        let wait = Wait { on_wait: None, ..agents.wait() };
        Self { agents: agents.clone().with_wait(wait) }
    }

    fn record(
        &self,
        session: &NodeSession,
        params: RecordParams,
        bodies: &mut Bodies<'_>,
    ) -> Result<Value, Error> {
        let RecordParams { changeset, root, path, edit, base, tool } = params;
        session.check_changeset(&changeset)?;
        root.map_or(Ok(()), |root| session.check_root(Path::new(&root)))?;
        let path = parse_path(&path)?;
        session.check_path(&path)?;
        let tool = tool.map(Tool::parse).transpose().map_err(plan::Error::from)?;
        // Stream a long content into the store first; lock out other requests of the node afterwards.
        let act = match edit {
            EditParam::Patch => return self.record_patch(session, changeset, path, base, tool, bodies),
            EditParam::Content { mode } => {
                let piece = ContentInput::from_reader(
                    session.store(),
                    mode.unwrap_or(USUAL_MODE),
                    &mut bodies.next()?,
                )?;
                plan::Edit::Write { content: ContentSource::Input(piece), mode }
            }
            EditParam::Delete => plan::Edit::Delete,
            EditParam::RenameTo(to) => plan::Edit::Rename { to: parse_path(&to)? },
            EditParam::Mode(mode) => plan::Edit::Mode(mode),
            EditParam::Symlink(target) => plan::Edit::Symlink { target: parse_path(&target)? },
        };
        let content = base_content(session, base, bodies)?;
        let guard = session.lock_record();
        let base = given_base(&guard, &path, base, content)?;
        let sequence = guard.record(path, act, base, tool)?;
        Ok(to_json(&RecordedEntry { changeset, sequence }))
    }

    /// Applies a patch to the current content, so it locks out other requests of the node from the start.
    fn record_patch(
        &self,
        session: &NodeSession,
        changeset: String,
        path: PathBytes,
        base: Option<BaseParam>,
        tool: Option<Tool>,
        bodies: &mut Bodies<'_>,
    ) -> Result<Value, Error> {
        let guard = session.lock_record();
        let patch = bodies.next_whole(plan::PATCH_BYTES_MAX)?;
        let content = base_content(session, base, bodies)?;
        let base = given_base(&guard, &path, base, content)?.map_or_else(|| guard.current(&path), Ok)?;
        let act = patched(session.store(), &path, base.as_ref(), &patch)?;
        let sequence = guard.record(path, act, Some(base), tool)?;
        Ok(to_json(&RecordedEntry { changeset, sequence }))
    }

    fn append(
        &self,
        session: &NodeSession,
        params: AppendParams,
        bodies: &mut Bodies<'_>,
    ) -> Result<Value, Error> {
        let _guard = session.lock_record();
        let text = bodies.next_whole(MESSAGES_BYTES_MAX)?;
        let drafts: Vec<Draft> = serde_json::from_slice(&text).map_err(|error| bad(error.to_string()))?;
        Ok(to_json(&self.agents.contexts()?.append(
            &params.name.parse()?,
            &drafts,
            params.if_revision.map(Revision),
        )?))
    }

    fn get(&self, params: GetParams) -> Result<Value, Error> {
        let got = self.agents.config_snapshot().get(&Key::parse(&params.key)?, Reveal::No)?;
        if params.reveal && got.entry.secret {
            return Err(Error::SecretInSandbox { key: got.entry.key.to_string() });
        }
        let mut result = to_json(&got);
        result["problems"] = got.problems.iter().map(error_json).collect();
        Ok(result)
    }
}

impl RequestHandler for Handler {
    fn handle(&self, session: &NodeSession, method: Method, mut bodies: Bodies<'_>) -> Result<Value, Value> {
        let handled = match method {
            Method::Record(params) => self.record(session, params, &mut bodies),
            Method::Append(params) => self.append(session, params, &mut bodies),
            Method::Get(params) => self.get(params),
        };
        handled.map_err(|error| error_json(&self.agents.problem(&error)))
    }

    fn error_response(&self, error: executor::Error) -> Value {
        error_json(&self.agents.problem(&error.into()))
    }

    /// Commands in a sandbox use the home folder of the run.
    fn variables(&self) -> Vec<(OsString, OsString)> {
        self.agents.home().map(|home| (HOME_VARIABLE.into(), home.into())).into_iter().collect()
    }
}

fn to_json(result: &impl Serialize) -> Value {
    serde_json::to_value(result).expect("results are made of text, numbers and lists")
}

/// Formats an error, with its kind.
fn error_json(problem: &Problem) -> Value {
    let mut json = to_json(problem);
    json["kind"] = json!(problem.kind);
    json
}

fn bad(reason: String) -> Error {
    executor::Error::BadRequest { reason }.into()
}

fn parse_path(text: &str) -> Result<PathBytes, Error> {
    Ok(PathBytes::parse(text.as_bytes()).map_err(plan::Error::from)?)
}

/// Reads the base in the body of a request, if it has one. Its mode is not known yet.
fn base_content(
    session: &NodeSession,
    base: Option<BaseParam>,
    bodies: &mut Bodies<'_>,
) -> Result<Option<ContentInput>, Error> {
    match base {
        Some(BaseParam::Content) => {
            Ok(Some(ContentInput::from_reader(session.store(), USUAL_MODE, &mut bodies.next()?)?))
        }
        _ => Ok(None),
    }
}

/// The base that a request gives, with the mode of the current content; `None` if it gives none.
fn given_base(
    guard: &RecordGuard<'_>,
    path: &PathBytes,
    base: Option<BaseParam>,
    content: Option<ContentInput>,
) -> Result<Option<Option<ContentInput>>, Error> {
    let Some(base) = base else { return Ok(None) };
    let Some(mut piece) = content.filter(|_| base == BaseParam::Content) else { return Ok(Some(None)) };
    if let Some(current) = guard.current(path)? {
        piece.content.mode = current.content.mode;
    }
    Ok(Some(Some(piece)))
}
