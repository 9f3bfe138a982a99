//! Hints for errors of runs.

use api::errors::RunError as E;

/// Gives what to do about an error; names a command where one helps.
pub(super) fn hint(error: &E) -> Option<String> {
    let hint = match error {
        E::Plan(error) => return super::plan::hint(error),
        E::Held { .. } => Some("`agents plan show PLAN` shows how far it is"),
        E::Lost { .. } => Some("`agents plan show PLAN` shows who runs it now"),
        E::NotRun { .. } => Some("`agents plan list` shows the plans there are"),
        E::NothingToResume { .. } => {
            Some("`agents plan show PLAN` shows what became of it; running the file again makes a new plan")
        }
        E::NoNode { nodes, .. } => return Some(format!("its nodes are {}", nodes.join(", "))),
        E::NoRoot => Some("name one with `agents run --root DIR`, or make a project: `mkdir .cleveragents`"),
        E::NotHere => None,
        E::ReadPlanFile { .. } => Some("name an existing TOML file: `agents run PLAN.toml`"),
        E::PlanFile { .. } => {
            Some("correct the file; `agents run --dry-run PLAN.toml` checks it and runs nothing")
        }
        E::BadRequest { .. } => Some("use the program that started the run: `agents --version`"),
        E::TooManyRequests { .. } => Some("try again when others are done"),
        E::NoSeat => Some("start the command in a node of a plan: `agents run PLAN.toml`"),
        E::ForeignChangeset { .. } => {
            Some("use the node's own: `agents changeset record \"$AGENTS_CHANGESET\" …`")
        }
        E::ForeignRoot { .. } => Some("leave `--root` out: a node works on one folder"),
        E::RefusedWrites { .. } => {
            Some("add a pattern to `writes` of the node; `agents run --dry-run PLAN.toml` checks the file")
        }
        #[cfg(target_os = "linux")]
        E::Socket { .. } => Some(
            "`ls -ld` on the folder shows who may write there; `--home DIR` names another home folder, on a file system that has sockets",
        ),
        #[cfg(target_os = "linux")]
        E::Files { .. } => {
            Some("`df -h` shows whether the disk is full; `ls -ld` on the folder shows who may write there")
        }
        #[cfg(target_os = "linux")]
        E::TooManyChanges { .. } => Some(
            "let it write to `$TMPDIR` what is not part of the change, or split the work into several nodes",
        ),
        #[cfg(target_os = "linux")]
        E::NotWritable { .. } => {
            Some("make the folder, or take it out: `agents config get sandbox.allow-write`")
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
        E::Start { .. } => Some("check that the program is installed and named as on the command line"),
    };
    hint.map(str::to_owned)
}
