//! Files, folders and symlinks by inode number, and a walk over the reachable ones.

use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::Arc;

use filetx::RelPath;

use super::content::Content;
use super::hash::{self, Fingerprint, mix};

/// An inode number: the index in [`Objects`]. Never reused on one disk.
pub(super) type Inode = usize;
/// The folder of all roots.
pub(super) const TOP: Inode = 0;

/// All objects of one state. After a power cut, unreachable ones are missing.
pub(super) type Objects = Vec<Option<Arc<Object>>>;

/// A file, folder or symlink.
#[derive(Clone)]
pub(super) struct Object {
    pub(super) attributes: Attributes,
    pub(super) mount: u64,
    pub(super) body: Body,
}

/// Metadata that `sync_data` does not cover.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Attributes {
    pub(super) mode: u32,
    /// Stands for the owner and the extended attributes.
    pub(super) owner: u64,
}

#[derive(Clone)]
pub(super) enum Body {
    File(Content),
    /// Sorted by name.
    Folder(Vec<(Arc<Name>, Inode)>),
    Symlink(OsString),
    Other,
}

/// A name in a folder, with its hash.
pub(super) struct Name {
    pub(super) text: OsString,
    hash: u128,
}

/// The new target of a folder entry, or its removal.
#[derive(Clone)]
pub(super) struct Assignment {
    pub(super) folder: Inode,
    pub(super) name: Arc<Name>,
    pub(super) to: Option<Inode>,
}

impl Name {
    pub(super) fn new(text: &OsStr) -> Arc<Self> {
        Arc::new(Self { text: text.to_owned(), hash: hash::of_bytes(text.as_encoded_bytes()) })
    }

    pub(super) fn hash(&self) -> u128 {
        self.hash
    }
}

impl Object {
    pub(super) fn new(mode: u32, mount: u64, body: Body) -> Arc<Self> {
        Arc::new(Self { attributes: Attributes { mode, owner: 0 }, mount, body })
    }

    pub(super) fn entries(&self) -> Option<&[(Arc<Name>, Inode)]> {
        match &self.body {
            Body::Folder(entries) => Some(entries),
            _ => None,
        }
    }

    pub(super) fn entry(&self, name: &OsStr) -> Option<Inode> {
        let entries = self.entries()?;
        let place = entries.binary_search_by(|(other, _)| other.text.as_os_str().cmp(name)).ok()?;
        Some(entries[place].1)
    }

    fn fingerprint(&self) -> u128 {
        let body = match &self.body {
            Body::File(content) => mix(1, content.fingerprint()),
            Body::Folder(_) => 2,
            Body::Symlink(target) => mix(3, hash::of_bytes(target.as_encoded_bytes())),
            Body::Other => 4,
        };
        let attributes = u128::from(self.attributes.mode) << 64 | u128::from(self.attributes.owner);
        mix(body, attributes)
    }
}

/// Returns an object that an entry or handle refers to.
pub(super) fn object(objects: &Objects, inode: Inode) -> &Object {
    objects[inode].as_deref().expect("a name or a handle keeps its object")
}

/// Returns an object, to change it in this state only.
pub(super) fn object_mut(objects: &mut Objects, inode: Inode) -> &mut Object {
    Arc::make_mut(objects[inode].as_mut().expect("a name or a handle keeps its object"))
}

/// Applies an assignment, and returns the previous target of the entry. Ignores a folder that is
/// gone.
pub(super) fn assign(objects: &mut Objects, assignment: &Assignment) -> Option<Inode> {
    let folder = objects[assignment.folder].as_mut()?;
    let Body::Folder(entries) = &mut Arc::make_mut(folder).body else {
        panic!("only folders have entries");
    };
    let place = entries.binary_search_by(|(other, _)| other.text.cmp(&assignment.name.text));
    match (place, assignment.to) {
        (Ok(at), Some(inode)) => Some(std::mem::replace(&mut entries[at].1, inode)),
        (Ok(at), None) => Some(entries.remove(at).1),
        (Err(at), Some(inode)) => {
            entries.insert(at, (Arc::clone(&assignment.name), inode));
            None
        }
        (Err(_), None) => None,
    }
}

/// "Too many levels of symbolic links": the error of a path through a symlink.
const ELOOP: i32 = 40;

/// Looks up `path` below `root`. A path through a file or symlink is an error; a missing folder
/// yields `None`.
pub(super) fn find(objects: &Objects, root: Inode, path: &RelPath) -> io::Result<Option<Inode>> {
    let mut at = root;
    for name in path.as_path() {
        let Some(folder) = objects[at].as_deref() else { return Ok(None) };
        match &folder.body {
            Body::Folder(_) => {}
            Body::Symlink(_) => return Err(io::Error::from_raw_os_error(ELOOP)),
            Body::File(_) | Body::Other => return Err(io::ErrorKind::NotADirectory.into()),
        }
        match folder.entry(name) {
            Some(inode) => at = inode,
            None => return Ok(None),
        }
    }
    Ok(Some(at))
}

/// Visits every name that is reachable from `from`, entering each folder once. `visit` gets the
/// hash of the path and the inode.
pub(super) fn walk(objects: &mut Objects, from: Inode, visit: &mut dyn FnMut(&mut Objects, u128, Inode)) {
    let mut entered = vec![false; objects.len()];
    let mut to_do = vec![(0u128, from)];
    while let Some((path, inode)) = to_do.pop() {
        visit(objects, path, inode);
        if !entered[inode] {
            entered[inode] = true;
            let entries = object(objects, inode).entries().unwrap_or_default();
            to_do.extend(entries.iter().map(|(name, child)| (mix(path, name.hash), *child)));
        }
    }
}

/// The reachable objects.
pub(super) struct Survey {
    pub(super) fingerprint: Fingerprint,
    /// A number for the mapping of names to inodes, whatever their contents.
    pub(super) names: u128,
    /// Number of names, by inode.
    pub(super) links: Vec<u32>,
}

/// Visits everything that is reachable from the top. `prepare` may replace each object before its
/// visit, once.
pub(super) fn survey(objects: &mut Objects, mut prepare: impl FnMut(&mut Objects, Inode)) -> Survey {
    let mut links = vec![0u32; objects.len()];
    let mut paths = vec![0u128; objects.len()];
    let (mut fingerprint, mut names) = (0u128, 0u128);
    let mut is_shared = false;
    walk(objects, TOP, &mut |objects, path, inode| {
        if links[inode] == 0 {
            prepare(objects, inode);
        }
        links[inode] += 1;
        is_shared |= links[inode] > 1;
        paths[inode] = paths[inode].wrapping_add(mix(path, 5));
        names = names.wrapping_add(mix(path, inode as u128));
        fingerprint = fingerprint.wrapping_add(mix(path, object(objects, inode).fingerprint()));
    });
    if is_shared {
        // Two names of one file differ from two equal files.
        for inode in (0..links.len()).filter(|inode| links[*inode] > 1) {
            fingerprint = fingerprint.wrapping_add(mix(paths[inode], 6));
        }
    }
    Survey { fingerprint, names, links }
}
