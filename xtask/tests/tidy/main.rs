//! Rules of the repository that no compiler or linter checks, as ordinary tests.
//!
//! Each rule is a pure function from texts to problems, with tests that show what it finds. The tests here run every rule over the
//! workspace on disk.

mod layers;
mod links;
mod modules;
mod names;
mod packages;
mod text;
mod workspace;

use workspace::Workspace;

#[test]
fn dependencies_point_to_lower_layers() {
    check(layers::problems(&Workspace::read().dependencies));
}

#[test]
fn every_source_and_test_file_is_compiled() {
    let workspace = Workspace::read();
    check(modules::unreached(&workspace.texts, &workspace.package_folders, &workspace.targets));
}

#[test]
fn links_in_documents_resolve() {
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
fn no_file_names_a_path_of_a_machine() {
    let workspace = Workspace::read();
    check_each(&workspace, |path, text| text::machine_paths(path, text, &workspace.root));
}

#[test]
fn no_test_is_ignored_and_no_code_is_unfinished() {
    check_each(&Workspace::read(), text::unfinished);
}

#[test]
fn no_source_file_is_too_long() {
    check_each(&Workspace::read(), text::too_long);
}

#[test]
fn git_is_called_in_one_place() {
    check_each(&Workspace::read(), text::git_calls);
}

#[test]
fn no_doc_comment_begins_with_a_question_word() {
    check_each(&Workspace::read(), text::question_openings);
}

#[test]
fn no_retired_name_returns() {
    check_each(&Workspace::read(), names::retired);
}

fn check_each(workspace: &Workspace, rule: impl Fn(&str, &str) -> Vec<String>) {
    check(workspace.texts.iter().flat_map(|(path, text)| rule(path, text)).collect());
}

#[track_caller]
fn check(problems: Vec<String>) {
    assert!(problems.is_empty(), "\n{}\n", problems.join("\n"));
}
