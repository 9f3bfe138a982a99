//! Steps that create, protect and read files, as a person does.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use cucumber::gherkin::Step;
use cucumber::{given, then};
use testkit::mount::SmallDisk;

use crate::world::{World, read, text_of};

/// Bytes that a small file occupies.
const PAGE_BYTES: u64 = 4096;

fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[given(regex = r"^the (global|project|local) file says:$")]
fn file_says(world: &mut World, step: &Step, scope: String) {
    write(&world.file(&scope), &text_of(step));
}

#[given(expr = "the global file is a symlink to {string} of mode {int} that says:")]
fn global_symlink(world: &mut World, step: &Step, target: String, mode: String) {
    let target = world.path(&target);
    write(&target, &text_of(step));
    set_mode(&target, u32::from_str_radix(&mode, 8).unwrap());
    symlink(target, world.file("global")).unwrap();
}

#[given(expr = "the project file is a symlink to {string} that says:")]
fn project_symlink(world: &mut World, step: &Step, target: String) {
    let (target, file) = (world.path(&target), world.file("project"));
    write(&target, &text_of(step));
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    symlink(target, file).unwrap();
}

#[given("the global file is read-only")]
fn file_read_only(world: &mut World) {
    set_mode(&world.file("global"), 0o444);
}

#[given("the home folder is read-only")]
fn home_read_only(world: &mut World) {
    set_mode(world.home.as_ref().unwrap(), 0o555);
}

#[given("the home folder is on a disk with no room")]
fn full_disk(world: &mut World) {
    let file = read(&world.file("global"));
    let disk = SmallDisk::new(&world.path("user"), 3 * PAGE_BYTES)
        .expect("scenarios are asked before whether they can");
    world.home = Some(disk.point().join("home"));
    write(&world.file("global"), &file);
    // Another program uses the remaining space.
    fs::write(disk.point().join("filler"), vec![0; 2 * PAGE_BYTES as usize]).unwrap();
    world.disk = Some(disk);
}

#[given("I am in a folder that is no project")]
fn in_no_project(world: &mut World) {
    world.current = world.path("elsewhere");
}

#[given(expr = "I am in the folder {string} of the project")]
fn in_folder(world: &mut World, folder: String) {
    world.current = world.path("project").join(folder);
    fs::create_dir_all(&world.current).unwrap();
}

#[then(regex = r"^the (global|project|local) file says:$")]
fn file_must_say(world: &mut World, step: &Step, scope: String) {
    assert_eq!(read(&world.file(&scope)), text_of(step));
}

#[then(expr = "the file {string} says:")]
fn some_file_must_say(world: &mut World, step: &Step, path: String) {
    assert_eq!(read(&world.path(&path)), text_of(step));
}

#[then(regex = r"^the (global|project|local) file is as it was$")]
fn file_is_as_it_was(world: &mut World, scope: String) {
    let file = world.file(&scope);
    assert_eq!(world.before.get(&file), Some(&read(&file)));
    // No leftovers beside it.
    let strays: Vec<PathBuf> = fs::read_dir(file.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !is_expected(path))
        .collect();
    assert!(strays.is_empty(), "{strays:?}");
}

fn is_expected(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    let ours = ["config.toml", "config.local.toml", ".config.toml.lock", ".config.local.toml.lock"];
    ours.contains(&name) || name == ".gitignore"
}

#[then(expr = "the global file is still a symlink to {string} of mode {int}")]
fn still_symlink(world: &mut World, target: String, mode: String) {
    let target = world.path(&target);
    assert_eq!(fs::read_link(world.file("global")).unwrap(), target);
    let found = fs::metadata(target).unwrap().permissions().mode() & 0o7777;
    assert_eq!(format!("{found:o}"), mode);
}

#[then("the current folder is empty")]
fn current_folder_is_empty(world: &mut World) {
    let names: Vec<_> = fs::read_dir(&world.current).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(names.is_empty(), "{names:?}");
}
