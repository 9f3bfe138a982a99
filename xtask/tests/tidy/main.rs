//! The rules of this repository that no compiler or linter checks, as ordinary tests.
//!
//! Each rule is a pure function from texts to problems, in a file of its own, with tests that show it finds something. The tests here
//! run every rule over the workspace as it is on disk.

mod arrows;
mod links;
mod modules;
mod packages;
mod text;
mod workspace;

use workspace::Workspace;

#[test]
fn arrows_between_crates_point_down() {
    check(arrows::problems(&Workspace::read().dependencies));
}

#[test]
fn every_source_and_test_file_is_compiled() {
    let workspace = Workspace::read();
    check(modules::unreached(&workspace.texts, &workspace.package_folders, &workspace.targets));
}

#[test]
fn links_in_documents_lead_somewhere() {
    check(links::dead(&Workspace::read().texts));
}

#[test]
fn every_crate_is_named_in_the_architecture() {
    let workspace = Workspace::read();
    check(text::unnamed_crates(&workspace.texts["ARCHITECTURE.md"], &workspace.package_folders));
}

#[test]
fn published_packages_have_the_fields_of_a_registry() {
    check(packages::incomplete(&Workspace::read().packages));
}

#[test]
fn no_file_names_a_path_of_somebodys_machine() {
    let workspace = Workspace::read();
    check_each(&workspace, |path, text| text::machine_paths(path, text, &workspace.root));
}

#[test]
fn no_test_is_ignored_and_nothing_is_left_to_do() {
    check_each(&Workspace::read(), text::unfinished);
}

#[test]
fn no_source_file_is_too_long_to_read() {
    check_each(&Workspace::read(), text::too_long);
}

fn check_each(workspace: &Workspace, rule: impl Fn(&str, &str) -> Vec<String>) {
    check(workspace.texts.iter().flat_map(|(path, text)| rule(path, text)).collect());
}

#[track_caller]
fn check(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}
