//! The handle of a simulated disk: roots, copies, what it looks like.

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

/// A handle of a simulated disk. Clones are the same disk; [`SimDisk::fork`] makes another one.
#[derive(Clone)]
pub struct SimDisk(Arc<Mutex<Inner>>);

/// What is at one path of a [`SimDisk::tree`].
#[derive(Clone, PartialEq, Eq)]
pub enum Node {
    /// A plain file.
    File {
        /// Permission bits.
        mode: u32,
        /// All of its bytes.
        content: Vec<u8>,
    },
    /// A folder.
    Folder {
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Symlink {
        /// Where it points.
        target: OsString,
    },
    /// A FIFO, socket or device.
    Other,
}

#[derive(Clone)]
pub(super) struct Inner {
    pub(super) live: Objects,
    /// How many names each object has in the live state.
    pub(super) links: Vec<u32>,
    pub(super) pending: Pending,
    pub(super) boot: u128,
    pub(super) rules: Rules,
    pub(super) plan: Plan,
}

/// What this disk can do.
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
    /// An empty disk, without any root.
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

    /// Makes a folder that is durable from the start, on mount 1, and opens it as a root.
    pub fn make_root(&self, path: &str) -> Arc<dyn Storage> {
        self.make_root_on(path, 1)
    }

    /// The same on another mount, which is a device of its own. `path` may lie in an earlier root.
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

    /// The same, or `None` when it is not there.
    pub fn try_root(&self, path: &str) -> Option<Arc<dyn Storage>> {
        let inner = self.lock();
        let path = RelPath::new(path).ok()?;
        let inode = find(&inner.live, TOP, &path).ok()??;
        object(&inner.live, inode).entries()?;
        drop(inner);
        Some(Arc::new(Root::new(self.clone(), inode)))
    }

    /// Another disk in the same state, with the same plans. Contents are shared until one of them changes.
    pub fn fork(&self) -> SimDisk {
        Self::from_inner(self.lock().clone())
    }

    /// The disk as the next program finds it after this one was killed: same boot, everything written is seen, and what
    /// was not synced is still not durable.
    pub fn kill(&self) -> SimDisk {
        let disk = self.fork();
        disk.new_program();
        disk
    }

    /// Makes everything durable, as if the machine had been idle for long.
    pub fn settle(&self) {
        let mut inner = self.lock();
        inner.pending = Pending::new(inner.live.clone());
    }

    /// Which run of the system this is: one more after each power cut.
    pub fn boot(&self) -> u128 {
        self.lock().boot
    }

    /// Whether renames can exchange two names.
    pub fn set_exchange(&self, can: bool) {
        self.lock().rules.exchange = can;
    }

    /// Whether files can have several names.
    pub fn set_links(&self, can: bool) {
        self.lock().rules.links = can;
    }

    /// Whether a failed `sync_folder` gives up the pending names for good, as a failed sync of a file does with its pages.
    /// File systems with a journal do not, so the default is no.
    pub fn set_folder_syncs_forget(&self, forget: bool) {
        self.lock().rules.folder_syncs_forget = forget;
    }

    /// Whether one call can sync everything on a mount.
    pub fn set_syncs_whole(&self, can: bool) {
        self.lock().rules.syncs_whole = can;
    }

    /// A number for the live tree of all roots: names, kinds, modes, contents and which names are one file.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut objects = self.lock().live.clone();
        survey(&mut objects, |_, _| ()).fingerprint
    }

    /// A number for everything that may matter later: the live tree, the durable one, what is pending, and the boot.
    pub fn whole_fingerprint(&self) -> Fingerprint {
        let inner = self.lock();
        let of = |objects: &Objects| {
            let survey = survey(&mut objects.clone(), |_, _| ());
            // What is pending names inodes, so here it matters which they are.
            mix(survey.fingerprint, survey.names)
        };
        let trees = mix(of(&inner.live), of(&inner.pending.base));
        mix(mix(trees, inner.pending.fingerprint()), inner.boot)
    }

    /// Everything in a root, by path below it.
    pub fn tree(&self, root: &str) -> BTreeMap<String, Node> {
        self.tree_where(root, |_| true)
    }

    /// The same, without names that start with `prefix` and what is in them.
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
        // A test that panicked in the middle of a call leaves a state that is still worth looking at.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Adds an object without a name; its first content and mode need no sync beyond that of its name.
    pub(super) fn add(&mut self, object: Arc<Object>) -> Inode {
        self.live.push(Some(Arc::clone(&object)));
        self.pending.base.push(Some(object));
        self.links.push(0);
        self.live.len() - 1
    }

    /// Does an operation on names in the live state, and notes it.
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
        /// How much of a file a failure message shows.
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
