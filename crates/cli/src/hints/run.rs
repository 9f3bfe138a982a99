//! Hints for errors of runs.

use api::errors::RunError as E;

/// Gives what to do about an error; names a command where one helps.
pub(super) fn hint(error: &E) -> Option<String> {
    let hint = match error {
        E::Plan(error) => return super::plan::hint(error),
        E::LeaseHeld { .. } => Some("`agents plan show PLAN` shows its progress"),
        E::LeaseLost { .. } => Some("`agents plan show PLAN` shows who runs it"),
        E::NoRun { .. } => Some("`agents plan list` lists all plans"),
        E::NothingToResume { .. } => {
            Some("`agents plan show PLAN` shows its outcome; running the file again makes a new plan")
        }
        E::NoNode { nodes, .. } => return Some(format!("its nodes are {}", nodes.join(", "))),
        E::NoRoot => Some("give one with `agents run --root DIR`, or make a project: `mkdir .cleveragents`"),
        E::UnsupportedPlatform => None,
        E::ReadPlanFile { .. } => Some("give an existing TOML file: `agents run PLAN.toml`"),
        E::PlanFile { .. } => {
            Some("correct the file; `agents run --dry-run PLAN.toml` checks it and runs nothing")
        }
        E::BadRequest { .. } => Some("use the program that started the run: `agents --version`"),
        E::TooManyRequests { .. } => Some("retry when other requests have ended"),
        E::InvalidToken => Some("start the command in a node of a plan: `agents run PLAN.toml`"),
        E::ForeignChangeset { .. } => {
            Some("use the node's own: `agents changeset record \"$AGENTS_CHANGESET\" …`")
        }
        E::ForeignRoot { .. } => Some("omit `--root`: a node works on one folder"),
        E::RefusedPaths { .. } => {
            Some("add a pattern to `paths` of the node; `agents run --dry-run PLAN.toml` checks the file")
        }
        #[cfg(target_os = "linux")]
        E::Socket { .. } => Some(
            "`ls -ld` on the folder shows who may write there; `--home DIR` uses another home folder, on a file system with sockets",
        ),
        #[cfg(target_os = "linux")]
        E::Sandbox { .. } => {
            Some("`df -h` shows whether the disk is full; `ls -ld` on the folder shows who may write there")
        }
        #[cfg(target_os = "linux")]
        E::TooManyChanges { .. } => {
            Some("let it write temporary files to `$TMPDIR`, or split the work into several nodes")
        }
        #[cfg(target_os = "linux")]
        E::AllowWrite { .. } => {
            Some("create the folder, or remove it from the list: `agents config get sandbox.allow-write`")
        }
        #[cfg(target_os = "linux")]
        E::Confine { .. } | E::NotConfined { .. } => {
            Some("`agents config set sandbox.confine auto --scope global` confines as far as the kernel can")
        }
        #[cfg(target_os = "linux")]
        E::Output { .. } => {
            Some("`df -h` shows whether the disk is full; `ls -l` on the file shows who may use it")
        }
        #[cfg(target_os = "linux")]
        E::StillRunning { .. } => Some("`ps -o pid,stat,wchan,args -p PID` shows what they wait for"),
        #[cfg(target_os = "linux")]
        E::CommandNotFound { .. } => Some("check that the program is installed and in `PATH`"),
        #[cfg(target_os = "linux")]
        E::Spawn { .. } => Some("`ls -l` on the program shows who may execute it"),
    };
    hint.map(str::to_owned)
}
