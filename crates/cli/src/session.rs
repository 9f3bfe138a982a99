//! What a command works with: the façade, what it read, and how it waits.

use std::sync::Arc;

use api::{Agents, ConfigSnapshot, Invocation, Preferences, Wait, WaitNotice};

use crate::args::GlobalArgs;
use crate::hints;
use crate::output::Output;

/// What a command works with.
pub(crate) struct Session<'a> {
    agents: &'a Agents,
    /// Configuration as it was when the command started.
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
        let notice = output.notice();
        let on_wait = move |waiting: &WaitNotice| {
            let holder =
                waiting.holder.as_ref().map(|holder| format!(", held by {holder}")).unwrap_or_default();
            notice(&format!("waiting for lock `{}`{holder}", waiting.lock.display()));
        };
        let wait =
            Wait { timeout: preferences.lock_timeout, on_wait: Some(Arc::new(on_wait)), ..Wait::default() };
        Session { agents, config, wait }
    }

    /// For questions that read nothing, or anew.
    pub(crate) fn agents(&self) -> &'a Agents {
        self.agents
    }

    /// For changes: waits as the user wants.
    pub(crate) fn writer(&self) -> Agents {
        self.agents.clone().with_wait(self.wait.clone())
    }
}

/// Where the program was started: the only place that looks at the process.
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

/// Who started the program: by name where one is set, by number elsewhere, as in containers.
fn user() -> String {
    let named = ["USER", "LOGNAME", "USERNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
    named.map(|name| name.trim().to_owned()).find(|name| !name.is_empty()).unwrap_or_else(number)
}

#[cfg(unix)]
fn number() -> String {
    format!("uid {}", rustix::process::getuid().as_raw())
}

#[cfg(not(unix))]
fn number() -> String {
    "somebody".to_owned()
}
