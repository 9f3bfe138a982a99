//! The library, configuration and lock timeout that a command works with.

use std::sync::Arc;

use api::{Agents, ConfigSnapshot, Invocation, Preferences, Wait, WaitNotice};

use crate::args::GlobalArgs;
use crate::hints;
use crate::output::Output;

/// The library as a command uses it.
pub(crate) struct Session<'a> {
    agents: &'a Agents,
    /// Configuration at the start of the command.
    pub(crate) config: ConfigSnapshot,
    wait: Wait,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        agents: &'a Agents,
        config: ConfigSnapshot,
        preferences: &Preferences,
        output: &Output,
    ) -> Self {
        let notice = output.wait_notifier();
        let on_wait = move |waiting: &WaitNotice| {
            let holder =
                waiting.holder.as_ref().map(|holder| format!(", held by {holder}")).unwrap_or_default();
            notice(&format!("waiting for lock `{}`{holder}", waiting.lock.display()));
        };
        let wait =
            Wait { timeout: preferences.lock_timeout, on_wait: Some(Arc::new(on_wait)), ..Wait::default() };
        Session { agents, config, wait }
    }

    /// For calls that do not wait for locks.
    pub(crate) fn agents(&self) -> &'a Agents {
        self.agents
    }

    /// For calls that write: they wait for locks as configured.
    pub(crate) fn writer(&self) -> Agents {
        self.agents.clone().with_wait(self.wait.clone())
    }
}

/// Folders, user and environment of this process. Nothing else reads them.
pub(crate) fn invocation(args: &GlobalArgs) -> Invocation {
    Invocation {
        home: args.home.clone(),
        project: args.project.clone(),
        current: std::env::current_dir().ok(),
        user_home: std::env::home_dir(),
        user: Some(user()),
        values: args.values(),
        variables: std::env::vars_os().collect(),
        hint: Some(hints::hints),
    }
}

/// The user's name, or the user id where no name is set, as in containers.
fn user() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    named.map(|name| name.trim().to_owned()).find(|name| !name.is_empty()).unwrap_or_else(user_id)
}

#[cfg(unix)]
fn user_id() -> String {
    format!("uid {}", rustix::process::getuid().as_raw())
}

#[cfg(not(unix))]
fn user_id() -> String {
    "unknown".to_owned()
}
