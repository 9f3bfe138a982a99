//! Hints for errors of runs.

use api::errors::RunError as E;

pub(super) fn hint(error: &E) -> Option<String> {
    Some(match error {
        E::Plan(error) => return super::plan::hint(error),
        E::LeaseHeld { plan, .. } => format!("agents plan show {plan}"),
        E::LeaseLost { plan, .. } => format!("agents plan show {plan}  # who runs it now"),
        E::Interrupted { plan, source } => {
            let resume = format!("agents run --resume {plan}");
            hint(source).map_or(resume.clone(), |cause| format!("{cause}\n{resume}"))
        }
        E::NoRun { .. } => "agents plan list".to_owned(),
        E::NothingToResume { plan, state } if state.as_str() == "ready" => format!("agents plan apply {plan}"),
        E::NothingToResume { plan, .. } => {
            format!("agents plan show {plan}  # to run the plan file again makes a new plan")
        }
        E::NoNode { nodes, .. } => format!("its nodes are {}", nodes.join(", ")),
        E::NoRoot => "mkdir .cleveragents  # makes this folder a project\nor add --root DIR".to_owned(),
        E::UnsupportedPlatform => return None,
        E::ReadPlanFile { .. } => "agents run --schema  # describes plan files".to_owned(),
        E::PlanFile { file, .. } => format!("agents run --dry-run {}", file.display()),
        E::BadRequest { .. } => "agents --version  # must be the program that started the run".to_owned(),
        E::TooManyRequests { .. } => "try again when other requests are done".to_owned(),
        E::InvalidToken => "run the command in a node of a plan".to_owned(),
        E::ForeignChangeset { .. } => "agents changeset record \"$AGENTS_CHANGESET\" …".to_owned(),
        E::ForeignRoot { .. } => "leave out --root: a node works on one folder".to_owned(),
        E::RefusedPaths { .. } => "add a pattern to `paths` of the node".to_owned(),
        #[cfg(target_os = "linux")]
        E::Socket { path, .. } => {
            let folder = path.parent().unwrap_or(path).display();
            format!("ls -ld {folder}  # who may write; or name another home folder with --home DIR")
        }
        #[cfg(target_os = "linux")]
        E::Sandbox { .. } if error.code() == "file-too-large" => {
            "agents config set sandbox.max-file-size SIZE --scope global\nor ignore the file in git, and add --ignored exclude"
                .to_owned()
        }
        #[cfg(target_os = "linux")]
        E::Sandbox { folder, .. } => {
            format!("df -h {0}  # is the disk full?\nls -ld {0}  # who may write?", folder.display())
        }
        #[cfg(target_os = "linux")]
        E::TooManyChanges { .. } => {
            "write scratch files to $TMPDIR, or split the work into several nodes".to_owned()
        }
        #[cfg(target_os = "linux")]
        E::AllowWrite { path, .. } => {
            format!("mkdir -p {}\nagents config get sandbox.allow-write", path.display())
        }
        #[cfg(target_os = "linux")]
        E::Confine { .. } | E::NotConfined { .. } => {
            "agents config set sandbox.confine auto --scope global  # as far as the kernel can".to_owned()
        }
        #[cfg(target_os = "linux")]
        E::Output { file, .. } => {
            format!("df -h {0}  # is the disk full?\nls -l {0}  # who may write?", file.display())
        }
        #[cfg(target_os = "linux")]
        E::StillRunning { pids } => {
            let pids: Vec<String> = pids.iter().map(u32::to_string).collect();
            format!("ps -o pid,stat,wchan,args -p {}  # what they wait for", pids.join(","))
        }
        #[cfg(target_os = "linux")]
        E::CommandNotFound { .. } => "check that the program is installed and in PATH".to_owned(),
        #[cfg(target_os = "linux")]
        E::Spawn { .. } => "ls -l on the program shows who may execute it".to_owned(),
    })
}
