//! Folders, modes, symlinks, write protection.

use std::fs;

use config::{Error, Scope};

use crate::support::{Fixture, key, names};

#[test]
fn the_first_project_write_creates_its_folder() {
    let fixture = Fixture::new();
    let service = fixture.service();
    service.set_value(Scope::Project, &key("x.a"), "1").unwrap();
    let folder = fixture.path("project/.cleveragents");
    assert_eq!(fs::read_to_string(folder.join(".gitignore")).unwrap(), "*\n!config.toml\n");
    assert_eq!(names(&folder), [".config.toml.lock", ".gitignore", "config.toml"]);
    assert!(!fixture.dirs.home.exists(), "nothing else is made");
    // A clone has the folder, but no ignored files.
    fs::remove_file(folder.join(".gitignore")).unwrap();
    service.set_value(Scope::Local, &key("x.a"), "1").unwrap();
    assert!(folder.join(".gitignore").exists());
    // An existing `.gitignore` is kept.
    fs::write(folder.join(".gitignore"), "").unwrap();
    service.set_value(Scope::Local, &key("x.a"), "2").unwrap();
    assert_eq!(fs::read_to_string(folder.join(".gitignore")).unwrap(), "");
}

#[test]
fn reading_creates_nothing() {
    let fixture = Fixture::new();
    fixture.service().list(None);
    assert_eq!(names(fixture.folder.path()), ["project"]);
    assert_eq!(names(&fixture.path("project")), Vec::<String>::new());
}

#[test]
fn a_mistyped_home_or_project_is_not_created() {
    let mut fixture = Fixture::new();
    fixture.dirs.home = fixture.path("no/such/home");
    fixture.dirs.project = Some(fixture.path("no/project"));
    let service = fixture.service();
    let error = service.set_value(Scope::Global, &key("x.a"), "1").unwrap_err();
    assert!(matches!(error, Error::NoHome { .. }), "{error}");
    let error = service.set_value(Scope::Project, &key("x.a"), "1").unwrap_err();
    assert!(matches!(error, Error::NoProject { .. }), "{error}");
    assert_eq!(names(fixture.folder.path()), ["project"]);
    assert_eq!(service.get(&key("x.a")).unwrap(), None);
}

#[test]
fn a_home_that_is_a_file_is_an_error() {
    let fixture = Fixture::new();
    fs::write(&fixture.dirs.home, "").unwrap();
    let error = fixture.service().set_value(Scope::Global, &key("x.a"), "1").unwrap_err();
    assert!(matches!(error, Error::Folder { .. }), "{error}");
    fs::write(fixture.path("project/.cleveragents"), "").unwrap();
    assert!(fixture.service().set_value(Scope::Local, &key("x.a"), "1").is_err());
    assert_eq!(fs::read(fixture.path("project/.cleveragents")).unwrap(), b"");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    use std::path::Path;

    use super::*;
    use config::{ConfigDirs, ConfigService, Environment, Registry};
    use testkit::chain;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn new_files_are_private_and_existing_ones_keep_their_mode() {
        let fixture = Fixture::new();
        let service = fixture.service();
        service.set_value(Scope::Global, &key("x.a"), "1").unwrap();
        let file = fixture.file(Scope::Global);
        assert_eq!((mode(&fixture.dirs.home), mode(&file)), (0o700, 0o600));
        set_mode(&file, 0o640);
        service.set_value(Scope::Global, &key("x.a"), "2").unwrap();
        assert_eq!(mode(&file), 0o640);
    }

    #[test]
    fn a_write_protected_file_or_folder_is_an_error() {
        let fixture = Fixture::new();
        fixture.write(Scope::Global, "x.a = 1\n");
        let file = fixture.file(Scope::Global);
        for (path, protected, open) in [(&file, 0o444, 0o644), (&fixture.dirs.home, 0o555, 0o755)] {
            set_mode(path, protected);
            let error = fixture.service().set_value(Scope::Global, &key("x.a"), "2").unwrap_err();
            assert!(
                matches!(&error, Error::ReadOnly { path: named } if named.ends_with(path.file_name().unwrap())),
                "{error}"
            );
            set_mode(path, open);
            assert_eq!(fixture.read(Scope::Global), "x.a = 1\n");
        }
        let project = fixture.path("project");
        set_mode(&project, 0o555);
        let error = fixture.service().set_value(Scope::Project, &key("x.a"), "2").unwrap_err();
        set_mode(&project, 0o755);
        assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
        assert_eq!(names(&project), Vec::<String>::new());
    }

    #[test]
    fn an_unreadable_parent_is_not_missing() {
        let fixture = Fixture::new();
        symlink("loop", fixture.path("loop")).unwrap();
        let dirs = ConfigDirs { home: fixture.path("loop/home"), project: None };
        let service = ConfigService::new(Registry::standard(), dirs, Environment::empty());
        let error = service.set_value(Scope::Global, &key("x.a"), "1").unwrap_err();
        assert!(matches!(error, Error::Folder { .. }), "{error:?}");
    }

    #[test]
    fn a_symlinked_global_file_stays_a_symlink() {
        let fixture = Fixture::new();
        let dotfiles = fixture.path("dotfiles");
        fs::create_dir(&dotfiles).unwrap();
        fs::create_dir(&fixture.dirs.home).unwrap();
        let target = dotfiles.join("agents.toml");
        fs::write(&target, "# kept\n").unwrap();
        set_mode(&target, 0o644);
        let link = fixture.file(Scope::Global);
        symlink("../dotfiles/agents.toml", &link).unwrap();
        fixture.service().set_value(Scope::Global, &key("x.a"), "1").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "# kept\nx.a = 1\n");
        assert_eq!(mode(&target), 0o644);
        assert_eq!(fs::metadata(&target).unwrap().uid(), fs::metadata(&dotfiles).unwrap().uid());
        // A missing target is created.
        fs::remove_file(&target).unwrap();
        fixture.service().set_value(Scope::Global, &key("x.a"), "2").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "x.a = 2\n");
    }

    #[test]
    fn two_symlinks_to_one_file_share_one_lock() {
        let fixture = Fixture::new();
        let mut other = Fixture::new();
        other.dirs.home = fixture.path("home2");
        for home in [&fixture.dirs.home, &other.dirs.home] {
            fs::create_dir(home).unwrap();
            symlink(fixture.path("shared.toml"), home.join("config.toml")).unwrap();
        }
        fixture
            .service()
            .batch(Scope::Global, |_| {
                let error = other.service().set_value(Scope::Global, &key("x.a"), "1").unwrap_err();
                assert!(matches!(error, Error::Nested { .. }), "{error}");
                Ok::<_, Error>(())
            })
            .unwrap();
    }

    /// Checks that the file is neither read nor written.
    fn check_escape_is_rejected(fixture: &Fixture) {
        let outside = fixture.path("outside.toml");
        let before = fs::read(&outside).unwrap();
        let service = fixture.service();
        let error = service.set_value(Scope::Project, &key("x.a"), "2").unwrap_err();
        assert!(matches!(error, Error::EscapesProject { .. }), "{error}");
        assert!(matches!(service.get(&key("x.a")), Err(Error::EscapesProject { .. })));
        assert_eq!(fs::read(&outside).unwrap(), before);
    }

    #[test]
    fn a_project_file_symlinked_outside_is_rejected() {
        let fixture = Fixture::new();
        fs::write(fixture.path("outside.toml"), "x.a = 1\n").unwrap();
        fs::create_dir(fixture.path("project/.cleveragents")).unwrap();
        symlink("../../outside.toml", fixture.file(Scope::Project)).unwrap();
        check_escape_is_rejected(&fixture);
    }

    #[test]
    fn a_project_folder_symlinked_outside_is_rejected() {
        let fixture = Fixture::new();
        fs::write(fixture.path("outside.toml"), "x.a = 1\n").unwrap();
        fs::create_dir(fixture.path("elsewhere")).unwrap();
        fs::write(fixture.path("elsewhere/config.toml"), "x.a = 1\n").unwrap();
        symlink("../elsewhere", fixture.path("project/.cleveragents")).unwrap();
        check_escape_is_rejected(&fixture);
        assert_eq!(names(&fixture.path("elsewhere")), ["config.toml"]);
    }

    #[test]
    fn a_dangling_symlink_outside_creates_nothing() {
        let fixture = Fixture::new();
        fs::write(fixture.path("outside.toml"), "").unwrap();
        fs::create_dir(fixture.path("project/.cleveragents")).unwrap();
        symlink(fixture.path("new.toml"), fixture.file(Scope::Project)).unwrap();
        check_escape_is_rejected(&fixture);
        assert!(!fixture.path("new.toml").exists());
    }

    #[test]
    fn a_project_file_may_be_a_symlink_inside_the_project() {
        let fixture = Fixture::new();
        fs::create_dir_all(fixture.path("project/.cleveragents")).unwrap();
        fs::create_dir(fixture.path("project/settings")).unwrap();
        symlink("../settings/agents.toml", fixture.file(Scope::Project)).unwrap();
        fixture.service().set_value(Scope::Project, &key("x.a"), "1").unwrap();
        assert_eq!(fs::read_to_string(fixture.path("project/settings/agents.toml")).unwrap(), "x.a = 1\n");
        assert!(fs::symlink_metadata(fixture.file(Scope::Project)).unwrap().is_symlink());
    }

    #[test]
    fn a_symlinked_project_shares_one_lock() {
        let mut fixture = Fixture::new();
        symlink("project", fixture.path("alias")).unwrap();
        fixture.dirs.project = Some(fixture.path("alias"));
        fixture.service().set_value(Scope::Project, &key("x.a"), "1").unwrap();
        assert_eq!(
            fs::read_to_string(fixture.path("project/.cleveragents/config.toml")).unwrap(),
            "x.a = 1\n"
        );
    }

    #[test]
    fn a_lost_lock_prevents_the_write() {
        let fixture = Fixture::new();
        let folder = fixture.path("project/.cleveragents");
        let failed = fixture.service().batch(Scope::Project, |tx| {
            tx.set_value(&key("x.a"), "1")?;
            // The folder with the lock is deleted, so another writer could start.
            fs::remove_dir_all(&folder).unwrap();
            Ok::<_, Error>(())
        });
        let error = failed.unwrap_err();
        assert!(matches!(error, Error::Prepare { .. }), "{error}");
        assert!(chain(&error).contains("was removed or replaced while it was held"), "{}", chain(&error));
        assert!(!folder.exists());
    }
}
