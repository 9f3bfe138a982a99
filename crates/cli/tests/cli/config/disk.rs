//! Full and read-only disks: the old file stays, and the message names a remedy.

use snapbox::str;
use testkit::mount::SmallDisk;
use testkit::report::skipped;

use crate::program::Program;

/// Room for the configuration and little more.
const DISK_BYTES: u64 = 64 * 1024;

#[test]
fn a_full_or_read_only_disk_is_reported_and_the_file_unchanged() {
    let program = Program::new();
    let disk = match SmallDisk::new(&program.path(""), DISK_BYTES) {
        Ok(disk) => disk,
        Err(reason) => return skipped("cli::disk", &reason),
    };
    program.run("config set x.a 1 --home small").success().stderr_eq(str![[r#"
x.a: not set -> 1 in [PLACE]/small/config.toml (global)

"#]]);
    // Fill the rest of the disk.
    let filled = std::process::Command::new("dd")
        .args(["if=/dev/zero", "of=small/fill", "bs=1k"])
        .current_dir(program.path(""))
        .output()
        .expect("dd starts");
    assert!(!filled.status.success(), "the disk is full");
    program.run("config set x.a 2 --home small").code(1).stdout_eq("").stderr_eq(str![[r#"
error: cannot write `[PLACE]/small/config.toml`
  nothing was changed
  cannot stage the new content of `[PLACE]/small/config.toml`
  No space left on device (os error 28)
  hint: df -h [PLACE]/small/config.toml

"#]]);
    assert_eq!(program.text("small/config.toml"), "x.a = 1\n");
    assert_eq!(program.names("small"), [".config.toml.lock", "config.toml", "fill"]);
    disk.remount("ro").expect("what was mounted can be remounted");
    program.run("config set x.a 2 --home small").code(1).stdout_eq("").stderr_eq(str![[r#"
error: cannot prepare to write `[PLACE]/small/config.toml`
  cannot open the lock file `[PLACE]/small/.config.toml.lock`
  Read-only file system (os error 30)
  hint: the file system is mounted read-only; use another home folder with --home DIR

"#]]);
    program.run("config get x.a --home small").success().stdout_eq("1\n").stderr_eq("");
    disk.remount("rw").expect("what was mounted can be remounted");
}

/// Room for a store.
const STORE_BYTES: u64 = 8 << 20;

#[test]
fn an_unwritable_store_is_reported_to_readers_too() {
    let program = Program::in_project();
    let disk = match SmallDisk::new(&program.path(""), STORE_BYTES) {
        Ok(disk) => disk,
        Err(reason) => return skipped("cli::disk", &reason),
    };
    program.run("plan create --name work --home small").success();
    disk.remount("ro").expect("what was mounted can be remounted");
    program.run("config get core.color --home small").success().stderr_eq("");
    program.run("plan list --home small").code(1).stdout_eq("").stderr_eq(str![[r#"
error: store `[PLACE]/small/state.db`: cannot open the store: the file, or one beside it, cannot be opened for writing
  unable to open database file
  Error code 14: unable to open database file
  hint: ls -ld [PLACE]/small  # who may write; reading needs it too
        findmnt -T [PLACE]/small  # is it mounted read-only?

"#]]);
    disk.remount("rw").expect("what was mounted can be remounted");
}
