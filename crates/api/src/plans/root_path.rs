//! Paths below the roots of a plan, as people write them: `a`, `./a`, or absolute.

use std::path::{Component, Path, PathBuf};

use plan::{Error, PathBytes, path_bytes, system_path};

/// A path below a root.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Below {
    /// Root that was named, or that holds an absolute path.
    pub root: Option<PathBytes>,
    /// Path below the root.
    pub path: PathBytes,
}

/// Finds the root of a path. Drops `.` components; keeps `..`, which its users refuse.
pub(crate) fn below(roots: &[PathBytes], named: Option<&PathBytes>, path: &str) -> Result<Below, Error> {
    if !Path::new(path).is_absolute() {
        return Ok(Below { root: named.cloned(), path: without_dots(path)? });
    }
    let refuse = |reason: String| Error::BadPath { path: path.to_owned(), reason };
    let mut among = roots.iter().filter(|root| named.is_none_or(|named| named == *root));
    let found = among.find_map(|root| Some((root, rest(&system_path(root), Path::new(path))?)));
    match found {
        Some((_, rest)) if rest.as_os_str().is_empty() => Err(refuse("it is the root itself".to_owned())),
        Some((root, rest)) => Ok(Below { root: Some(root.clone()), path: path_bytes(&rest)? }),
        None => Err(refuse("it is below no root of the plan".to_owned())),
    }
}

/// Strips the root from a path. The path may name the root through symlinks.
fn rest(root: &Path, path: &Path) -> Option<PathBuf> {
    let is_root = |folder: &&Path| *folder == root || folder.canonicalize().is_ok_and(|real| real == root);
    let folder = path.ancestors().find(is_root)?;
    path.strip_prefix(folder).ok().map(Path::to_owned)
}

/// Drops `.` components, unless nothing else or no plain path remains.
pub(crate) fn without_dots(path: &str) -> Result<PathBytes, Error> {
    let parts = Path::new(path).components().filter(|part| *part != Component::CurDir);
    let plain: PathBuf = parts.collect();
    if path.ends_with('/') || plain.as_os_str().is_empty() {
        return Ok(PathBytes::parse(path.as_bytes())?);
    }
    path_bytes(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(path: &str) -> PathBytes {
        PathBytes::parse(path).unwrap()
    }

    #[test]
    fn a_path_is_found_below_its_root() {
        let (one, two) = (bytes("/srv/one"), bytes("/srv/two"));
        let roots = [one.clone(), two.clone()];
        let check = |named, path, root: Option<&PathBytes>, expected| {
            let found = below(&roots, named, path).unwrap();
            assert_eq!(found, Below { root: root.cloned(), path: bytes(expected) }, "{path}");
        };
        check(None, "a", None, "a");
        check(Some(&one), "./a/./b", Some(&one), "a/b");
        check(None, "/srv/two/a", Some(&two), "a");
        check(None, "/srv/./two//a/b", Some(&two), "a/b");
        // Refused by the users of the path.
        check(None, ".", None, ".");
        check(None, "./../a", None, "../a");
        check(None, "a/", None, "a/");
        check(None, "/srv/two/../a", Some(&two), "../a");
    }

    #[test]
    fn a_path_outside_is_refused() {
        let roots = [bytes("/srv/one"), bytes("/srv/two")];
        for (named, path) in [(None, "/srv/one"), (None, "/srv/onea"), (Some(&roots[0]), "/srv/two/a")] {
            assert_eq!(below(&roots, named, path).unwrap_err().code(), "bad-path", "{path}");
        }
    }
}
