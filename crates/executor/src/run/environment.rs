//! The environment of an actor: that of this process, without our secrets, with the variables of its
//! node.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::context::RunContext;
use crate::NodeIndex;
use crate::rpc::{SOCKET_VARIABLE, SessionGuard, TOKEN_VARIABLE};

/// Variables that would point git at a repository outside the sandbox.
const GIT_VARIABLES: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
];
/// Prefix of the variables of PostgreSQL, which lead to the store and hold its password.
const POSTGRES_PREFIX: &[u8] = b"PG";

impl RunContext<'_> {
    /// The differences between the actor's environment and this process's. Variables that the node itself
    /// sets come last.
    pub(super) fn environment(
        &self,
        node: NodeIndex,
        changeset: &str,
        temporary: &Path,
        folder: &Path,
        session: Option<&SessionGuard<'_>>,
    ) -> Vec<(OsString, Option<OsString>)> {
        let spec = self.spec(node);
        let postgres = std::env::vars_os().map(|(name, _)| name);
        let postgres = postgres.filter(|name| name.as_bytes().starts_with(POSTGRES_PREFIX));
        let denied = self.env_denylist.iter().cloned().chain(postgres);
        // An enclosing run must not be reachable.
        let others = GIT_VARIABLES.into_iter().chain([SOCKET_VARIABLE, TOKEN_VARIABLE]).map(OsString::from);
        let removed = denied.chain(others).map(|name| (name, None));
        let ours = [
            ("AGENTS_PLAN", self.plan.to_string().into()),
            ("AGENTS_NODE", OsString::from(&spec.name)),
            ("AGENTS_CHANGESET", changeset.into()),
            ("TMPDIR", temporary.as_os_str().to_owned()),
            ("PWD", folder.as_os_str().to_owned()),
        ];
        let ours = ours.into_iter().map(|(name, value)| (name.into(), Some(value)));
        let session = session.map(SessionGuard::variables).unwrap_or_default();
        let session = session.into_iter().map(|(name, value)| (name, Some(value)));
        let of_node = spec.env.iter().map(|(name, value)| (name.into(), Some(value.into())));
        removed.chain(ours).chain(session).chain(of_node).collect()
    }
}
