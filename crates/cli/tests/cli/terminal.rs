//! The program on a terminal: a pseudo-terminal that the test reads and types on.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};

use crate::plan::{changed, project};
use crate::program::{GLOBAL_FILE, Program};

pub(crate) struct Terminal {
    child: Child,
    master: File,
    /// Output that no `expect` has consumed yet.
    shown: String,
}

impl Terminal {
    pub(crate) fn start(command: &mut Command) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = || -> OwnedFd { open(&*name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap() };
        command.env("TERM", "xterm").stdin(slave()).stdout(slave()).stderr(slave());
        let child = command.spawn().unwrap();
        // Close the test's copies of these ends, so that the terminal ends with the program.
        *command = Command::new("true");
        Self { child, master: master.into(), shown: String::new() }
    }

    /// Reads until this text appears, and returns the output before it.
    #[track_caller]
    fn expect(&mut self, text: &str) -> String {
        loop {
            if let Some((before, after)) = self.shown.split_once(text) {
                let before = before.to_owned();
                self.shown = after.to_owned();
                return before;
            }
            assert!(self.read(), "`{text}` is not shown; this is: {}", self.shown);
        }
    }

    /// Reads more. Returns false at the end.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 4096];
        match self.master.read(&mut bytes) {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.shown += &String::from_utf8_lossy(&bytes[..count]);
                true
            }
        }
    }

    fn type_line(&mut self, line: &str) {
        self.master.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn is_echoing(&self) -> bool {
        tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ECHO)
    }

    /// Reads to the end. Returns the remaining output and the exit code.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        while self.read() {}
        (std::mem::take(&mut self.shown), self.child.wait().unwrap().code())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_secret_is_typed_without_echo() {
    let program = Program::new();
    let mut terminal = Terminal::start(&mut program.command("config set server.token --stdin"));
    terminal.expect("Value of server.token (not shown): ");
    assert!(!terminal.is_echoing());
    terminal.type_line("hunter2");
    let (shown, code) = terminal.end();
    assert!(shown.contains("server.token: not set ") && !shown.contains("hunter2"), "{shown}");
    assert_eq!(code, Some(0));
    assert_eq!(program.text(GLOBAL_FILE), "server.token = \"hunter2\"\n");
}

#[test]
fn ctrl_c_at_the_prompt_restores_the_terminal() {
    let program = Program::new();
    let mut terminal = Terminal::start(&mut program.command("config set server.token --stdin"));
    terminal.expect("(not shown): ");
    let pid = rustix::process::Pid::from_child(&terminal.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(terminal.child.wait().unwrap().code(), Some(130));
    assert!(terminal.is_echoing());
    assert!(!program.path("agents-home").exists());
}

#[test]
fn an_invalid_edit_can_be_edited_again() {
    let program = Program::new();
    program.write(GLOBAL_FILE, "x.a = 1\n");
    // The first edit has a mistake; the second corrects it.
    let editor = "sed -i -e 's/^x.a = = 2$/x.a = 2/' -e t -e 's/^x.a = 1$/x.a = = 2/'";
    let mut terminal = Terminal::start(program.command("config edit").env("EDITOR", editor));
    let stderr_text = terminal.expect("Edit again? [Y/n] ");
    assert!(stderr_text.contains("x.a = = 2") && stderr_text.contains('^'), "{stderr_text}");
    terminal.type_line("");
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(program.text(GLOBAL_FILE), "x.a = 2\n");
    assert_eq!(program.names("agents-home"), [".config.toml.lock", "config.toml"]);
}

#[test]
fn an_invalid_edit_that_is_given_up_is_preserved() {
    let program = Program::new();
    program.write(GLOBAL_FILE, "x.a = 1\n");
    let mut terminal = Terminal::start(program.command("config edit").env("EDITOR", "sed -i 's/1/=/'"));
    terminal.expect("Edit again? [Y/n] ");
    terminal.type_line("n");
    let (shown, code) = terminal.end();
    assert!(shown.contains("was rejected") && shown.contains("config.toml.edited"), "{shown}");
    assert_eq!(code, Some(1));
    assert_eq!(program.text("agents-home/config.toml.edited"), "x.a = =\n");
}

#[test]
fn a_terminal_gets_colours_by_default() {
    let program = Program::new();
    let shown = |command: &mut Command| Terminal::start(command).end().0;
    assert!(shown(&mut program.command("config list plan")).contains("\u{1b}[1mplan.merge\u{1b}[0m"));
    for (name, value) in
        [("NO_COLOR", "1"), ("CLEVERAGENTS_CORE_COLOR", "never"), ("CLEVERAGENTS_CORE_FORMAT", "plain")]
    {
        assert!(!shown(program.command("config list plan").env(name, value)).contains('\u{1b}'), "{name}");
    }
}

#[test]
fn a_diff_goes_through_the_pager_with_colours() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "new\n");
    let shown = |command: &mut Command| Terminal::start(command).end().0;
    let diff = || program.command("plan diff work");
    let paged = shown(diff().env("PAGER", "sed s/^/paged:/"));
    assert!(paged.contains("paged:\u{1b}[32m+new"), "{paged}");
    let plain = shown(diff().env("PAGER", "sed s/^/paged:/").env("NO_COLOR", "1"));
    assert!(plain.contains("paged:+new"), "{plain}");
    for pager in ["cat", "", "no-such-pager-here"] {
        let shown = shown(diff().env("PAGER", pager));
        assert!(shown.contains("\u{1b}[32m+new") && !shown.contains("paged:"), "{pager}: {shown}");
    }
}

#[test]
fn undo_lists_files_and_asks() {
    let program = project();
    changed(&program, "[CODER]", "coder", "b.txt", "new\n");
    program.run("plan apply work").success();
    for (answer, code, content) in [("n", 1, "new\n"), ("y", 0, "old\n")] {
        let mut terminal = Terminal::start(&mut program.command("plan undo work"));
        let preview = terminal.expect(", 1 file? [y/N] ");
        assert!(preview.contains("would modify  b.txt") && preview.contains("Undo work in "), "{preview}");
        terminal.type_line(answer);
        assert_eq!(terminal.end().1, Some(code), "{answer}");
        assert_eq!(program.text("b.txt"), content, "{answer}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_is_drawn_in_place_and_summarised() {
    let program = Program::in_project();
    program.write(
        "plan.toml",
        "name = 'work'\n[nodes.coder]\nrun = 'echo working; echo new > new.txt'\n\
         [nodes.bad]\nrun = 'echo oh no; exit 7'\nneeds = ['coder']\n",
    );
    let (shown, code) = Terminal::start(&mut program.command("run plan.toml")).end();
    assert_eq!(code, Some(1), "{shown}");
    // Frames are drawn without wrapping, and the last one is erased before the summary.
    let (live, end) = shown.rsplit_once("\u{1b}[J\u{1b}[?7h").expect("frames are cleared");
    assert!(live.contains("\u{1b}[?7l") && live.contains("of 2 nodes done"), "{shown}");
    assert!(live.contains("oh no"), "what failed is shown above: {shown}");
    let end = anstream::adapter::strip_str(end).to_string();
    assert!(end.contains("✓ coder") && end.contains("✗ bad"), "{end}");
    assert!(end.contains("failed with exit code 7") && end.contains("hint: agents logs 01"), "{end}");
    let plain = Terminal::start(&mut program.command("run plan.toml --format plain")).end().0;
    assert!(plain.contains("coder | working") && !plain.contains('\u{1b}'), "{plain}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_single_actor_gets_the_terminal() {
    let program = Program::in_project();
    let script = "test -t 0 && test -t 1 && echo 'your name?' && read name && echo $name > name.txt";
    // The terminal controls its own session, as a shell's does.
    let agents = program.command_of(&["run", "--", "sh", "-c", script]);
    let mut command = Command::new("setsid");
    command.arg("--ctty").arg(agents.get_program()).args(agents.get_args());
    command.current_dir(agents.get_current_dir().unwrap());
    command.envs(agents.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut terminal = Terminal::start(&mut command);
    terminal.expect("your name?");
    terminal.type_line("ana");
    let (shown, code) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("name.txt (new)") && shown.contains("agents plan diff 01"), "{shown}");
    assert!(!program.path("name.txt").exists());
    let plain = program.run("plan diff @latest").success();
    assert!(crate::program::text(&plain).contains("+ana"));
}
