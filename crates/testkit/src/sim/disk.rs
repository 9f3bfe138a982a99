//! The handle of a simulated disk: roots, copies, fingerprints.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

use filetx::{RelPath, Storage};

use super::content::Content;
use super::fault::Plan;
use super::hash::{Fingerprint, mix};
use super::object::{
    Assignment, Attributes, Body, Inode, Name, Object, Objects, TOP, assign, find, object, object_mut, survey,
};
use super::pending::{Fate, Pending};
use super::storage::Root;

/// A handle of a simulated disk. Clones are the same disk; [`SimDisk::fork`] copies it.
#[derive(Clone)]
pub struct SimDisk(Arc<Mutex<Inner>>);

/// A path of a [`SimDisk::tree`].
#[derive(Clone, PartialEq, Eq)]
pub enum Node {
    /// A regular file.
    File {
        /// Permission bits.
        mode: u32,
        /// All bytes.
        content: Vec<u8>,
    },
    /// A folder.
    Folder {
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Symlink {
        /// The target.
        target: OsString,
    },
    /// A FIFO, socket or device.
    Other,
}

#[derive(Clone)]
pub(super) struct Inner {
    pub(super) live: Objects,
    /// Number of names of each object in the live state.
    pub(super) links: Vec<u32>,
    pub(super) pending: Pending,
    pub(super) boot: u128,
    pub(super) rules: Rules,
    pub(super) plan: Plan,
}

/// The capabilities of this disk.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) exchange: bool,
    pub(super) links: bool,
    pub(super) folder_syncs_forget: bool,
    pub(super) external_syncs: bool,
    pub(super) syncs_whole: bool,
}

impl Default for SimDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl SimDisk {
    /// Makes an empty disk without roots.
    pub fn new() -> Self {
        let top: Objects = vec![Some(Object::new(0o755, 1, Body::Folder(Vec::new())))];
        let rules = Rules {
            exchange: true,
            links: true,
            folder_syncs_forget: false,
            external_syncs: true,
            syncs_whole: true,
        };
        Self::from_inner(Inner {
            live: top.clone(),
            links: vec![1],
            pending: Pending::new(top),
            boot: 1,
            rules,
            plan: Plan::default(),
        })
    }

    /// Makes a durable folder on mount 1, and opens it as a root.
    pub fn make_root(&self, path: &str) -> Arc<dyn Storage> {
        self.make_root_on(path, 1)
    }

    /// Makes a durable folder on another mount, with its own device. `path` may be inside an
    /// earlier root.
    pub fn make_root_on(&self, path: &str, mount: u64) -> Arc<dyn Storage> {
        let mut inner = self.lock();
        let path_checked = RelPath::new(path).expect("a root has a plain path");
        let parent = path_checked.parent().expect("a checked path is not the top");
        let parent = find(&inner.live, TOP, &parent).ok().flatten().expect("the parent of a root exists");
        let name = Name::new(path_checked.name().expect("a checked path is not the top"));
        let folder = inner.add(Object::new(0o755, mount, Body::Folder(Vec::new())));
        inner.name("make root", vec![Assignment { folder: parent, name, to: Some(folder) }], Fate::Settled);
        drop(inner);
        self.root(path)
    }

    /// Opens a folder of the disk as a root.
    pub fn root(&self, path: &str) -> Arc<dyn Storage> {
        self.try_root(path).unwrap_or_else(|| panic!("the simulated disk has no folder {path}"))
    }

    /// Opens a folder as a root; `None` if it does not exist.
    pub fn try_root(&self, path: &str) -> Option<Arc<dyn Storage>> {
        let inner = self.lock();
        let path = RelPath::new(path).ok()?;
        let inode = find(&inner.live, TOP, &path).ok()??;
        object(&inner.live, inode).entries()?;
        drop(inner);
        Some(Arc::new(Root::new(self.clone(), inode)))
    }

    /// Copies the disk, with its planned faults. Contents are shared until one copy changes them.
    pub fn fork(&self) -> SimDisk {
        Self::from_inner(self.lock().clone())
    }

    /// Returns the disk as the next program finds it after a kill: same boot, all writes visible,
    /// unsynced data still not durable.
    pub fn kill(&self) -> SimDisk {
        let disk = self.fork();
        disk.new_program();
        disk
    }

    /// Makes everything durable, as after a long idle time.
    pub fn settle(&self) {
        let mut inner = self.lock();
        inner.pending = Pending::new(inner.live.clone());
    }

    /// Returns the boot number, which increases with each power cut.
    pub fn boot(&self) -> u128 {
        self.lock().boot
    }

    /// Sets whether renames can exchange two names.
    pub fn set_exchange(&self, can: bool) {
        self.lock().rules.exchange = can;
    }

    /// Sets whether files can have several names.
    pub fn set_links(&self, can: bool) {
        self.lock().rules.links = can;
    }

    /// Sets whether a failed `sync_folder` drops pending names for good, as a failed sync of a file
    /// does with its pages. Off by default, since journaling file systems do not.
    pub fn set_folder_syncs_forget(&self, forget: bool) {
        self.lock().rules.folder_syncs_forget = forget;
    }

    /// Sets whether one call can sync a whole mount.
    pub fn set_syncs_whole(&self, can: bool) {
        self.lock().rules.syncs_whole = can;
    }

    /// Returns a number for the live tree of all roots: names, types, modes, contents and hard
    /// links.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut objects = self.lock().live.clone();
        survey(&mut objects, |_, _| ()).fingerprint
    }

    /// Returns a number for everything that may matter later: the live tree, the durable one,
    /// pending effects, and the boot.
    pub fn whole_fingerprint(&self) -> Fingerprint {
        let inner = self.lock();
        let of = |objects: &Objects| {
            let survey = survey(&mut objects.clone(), |_, _| ());
            // Pending effects refer to inodes, so inode numbers matter here.
            mix(survey.fingerprint, survey.names)
        };
        let trees = mix(of(&inner.live), of(&inner.pending.base));
        mix(mix(trees, inner.pending.fingerprint()), inner.boot)
    }

    /// Returns the contents of a root, by relative path.
    pub fn tree(&self, root: &str) -> BTreeMap<String, Node> {
        self.tree_where(root, |_| true)
    }

    /// Returns the contents of a root without names that start with `prefix`, and what is below
    /// them.
    pub fn tree_without(&self, root: &str, prefix: &str) -> BTreeMap<String, Node> {
        self.tree_where(root, |name| !name.starts_with(prefix))
    }

    fn tree_where(&self, root: &str, wanted: impl Fn(&str) -> bool) -> BTreeMap<String, Node> {
        let inner = self.lock();
        let root = RelPath::new(root).expect("a root has a plain path");
        let Ok(Some(root)) = find(&inner.live, TOP, &root) else { return BTreeMap::new() };
        let mut tree = BTreeMap::new();
        let mut entered = vec![false; inner.live.len()];
        let mut to_do = vec![(String::new(), root)];
        while let Some((path, inode)) = to_do.pop() {
            let object = object(&inner.live, inode);
            if inode != root {
                tree.insert(path.clone(), Node::of(object));
            }
            if std::mem::replace(&mut entered[inode], true) {
                continue;
            }
            for (name, child) in object.entries().unwrap_or_default() {
                let name = name.text.to_string_lossy();
                if wanted(&name) {
                    let path = if path.is_empty() { name.into_owned() } else { format!("{path}/{name}") };
                    to_do.push((path, *child));
                }
            }
        }
        tree
    }

    pub(super) fn from_inner(inner: Inner) -> Self {
        Self(Arc::new(Mutex::new(inner)))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        // The state is still useful after a test panicked inside a call.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Adds an object without a name; its first content and mode become durable with its name.
    pub(super) fn add(&mut self, object: Arc<Object>) -> Inode {
        self.live.push(Some(Arc::clone(&object)));
        self.pending.base.push(Some(object));
        self.links.push(0);
        self.live.len() - 1
    }

    /// Applies an operation on names to the live state, and adds it to the pending effects.
    pub(super) fn name(&mut self, text: &str, assignments: Vec<Assignment>, fate: Fate) {
        for assignment in &assignments {
            if let Some(old) = assign(&mut self.live, assignment) {
                self.links[old] -= 1;
            }
            if let Some(new) = assignment.to {
                self.links[new] += 1;
            }
        }
        self.pending.name(text.to_owned(), assignments, fate);
    }

    pub(super) fn write(&mut self, inode: Inode, bytes: &[u8], offset: u64) {
        let touched = self.content_mut(inode).write(bytes, offset);
        self.pending.content(inode, object(&self.live, inode), touched);
    }

    pub(super) fn set_len(&mut self, inode: Inode, len: u64) {
        let touched = self.content_mut(inode).set_len(len);
        self.pending.content(inode, object(&self.live, inode), touched);
    }

    pub(super) fn set_attributes(&mut self, inode: Inode, attributes: Attributes) {
        object_mut(&mut self.live, inode).attributes = attributes;
        self.pending.attributes(inode, attributes);
    }

    pub(super) fn content(&self, inode: Inode) -> io::Result<&Content> {
        match &object(&self.live, inode).body {
            Body::File(content) => Ok(content),
            Body::Folder(_) => Err(io::ErrorKind::IsADirectory.into()),
            Body::Symlink(_) | Body::Other => Err(io::Error::other("not a plain file")),
        }
    }

    fn content_mut(&mut self, inode: Inode) -> &mut Content {
        match &mut object_mut(&mut self.live, inode).body {
            Body::File(content) => content,
            _ => panic!("only files are written"),
        }
    }
}

impl Node {
    fn of(object: &Object) -> Self {
        let mode = object.attributes.mode;
        match &object.body {
            Body::File(content) => Node::File { mode, content: content.to_vec() },
            Body::Folder(_) => Node::Folder { mode },
            Body::Symlink(target) => Node::Symlink { target: target.clone() },
            Body::Other => Node::Other,
        }
    }
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.lock();
        write!(f, "SimDisk(boot {}, {} calls)", inner.boot, inner.plan.calls)
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Bytes of a file that a failure message shows.
        const SHOWN_BYTES: usize = 64;
        match self {
            Node::File { mode, content } => {
                let shown = &content[..content.len().min(SHOWN_BYTES)];
                write!(f, "file {mode:o} {} bytes \"{}\"", content.len(), shown.escape_ascii())
            }
            Node::Folder { mode } => write!(f, "folder {mode:o}"),
            Node::Symlink { target } => write!(f, "symlink to {}", target.display()),
            Node::Other => f.write_str("other"),
        }
    }
}
