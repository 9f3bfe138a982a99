//! Changes by another program, or a person with an editor. They are neither counted nor failed.
//!
//! They are durable at once, unless [`SimDisk::set_external_syncs`] says otherwise. They make
//! nothing else in the folder durable: a sync that the program forgot is still missing.

use std::collections::BTreeSet;
use std::ffi::OsStr;

use filetx::RelPath;

use super::content::Content;
use super::disk::{Inner, SimDisk};
use super::object::{Assignment, Attributes, Body, Inode, Name, Object, TOP, find, object};
use super::pending::Fate;

impl SimDisk {
    /// Sets whether external changes are durable at once.
    pub fn set_external_syncs(&self, syncs: bool) {
        self.lock().rules.external_syncs = syncs;
    }

    /// Writes a file in place, or creates it with mode 644, and its folders.
    pub fn external_write(&self, root: &str, path: &str, bytes: &[u8]) {
        let mut inner = self.lock();
        match inner.at(root, path) {
            Some(inode) => {
                inner.set_len(inode, bytes.len() as u64);
                inner.write(inode, bytes, 0);
                inner.external_syncs(inode);
            }
            None => {
                let mut content = Content::default();
                content.write(bytes, 0);
                inner.external_names(root, path, Some((0o644, Body::File(content))));
            }
        }
    }

    /// Writes a new file and renames it over the old one, as many editors do.
    pub fn external_replace(&self, root: &str, path: &str, bytes: &[u8]) {
        let mut content = Content::default();
        content.write(bytes, 0);
        self.lock().external_names(root, path, Some((0o644, Body::File(content))));
    }

    /// Makes a folder and its parents.
    pub fn external_make_folder(&self, root: &str, path: &str) {
        self.lock().external_folder(root, &RelPath::new(path).expect("a person uses plain paths"));
    }

    /// Makes a symlink, replacing what was there.
    pub fn external_symlink(&self, root: &str, target: &str, path: &str) {
        self.lock().external_names(root, path, Some((0o777, Body::Symlink(target.into()))));
    }

    /// Makes a FIFO, replacing what was there.
    pub fn external_fifo(&self, root: &str, path: &str) {
        self.lock().external_names(root, path, Some((0o644, Body::Other)));
    }

    /// Changes the mode.
    pub fn external_set_mode(&self, root: &str, path: &str, mode: u32) {
        let mut inner = self.lock();
        let inode = inner.at(root, path).expect("a person changes what is there");
        let owner = object(&inner.live, inode).attributes.owner;
        inner.set_attributes(inode, Attributes { mode, owner });
        inner.external_syncs(inode);
    }

    /// Changes the number that stands for owner and extended attributes.
    pub fn external_set_owner(&self, root: &str, path: &str, owner: u64) {
        let mut inner = self.lock();
        let inode = inner.at(root, path).expect("a person changes what is there");
        let mode = object(&inner.live, inode).attributes.mode;
        inner.set_attributes(inode, Attributes { mode, owner });
        inner.external_syncs(inode);
    }

    /// Returns the number that stands for owner and extended attributes; `None` if the path does
    /// not exist.
    pub fn external_owner(&self, root: &str, path: &str) -> Option<u64> {
        let inner = self.lock();
        let inode = inner.at(root, path)?;
        Some(object(&inner.live, inode).attributes.owner)
    }

    /// Removes a name, with the contents of a folder, if it exists.
    pub fn external_remove(&self, root: &str, path: &str) {
        let mut inner = self.lock();
        if inner.at(root, path).is_some() {
            inner.external_names(root, path, None);
        }
    }

    /// Returns the bytes of a regular file.
    pub fn external_read(&self, root: &str, path: &str) -> Option<Vec<u8>> {
        let inner = self.lock();
        let inode = inner.at(root, path)?;
        inner.content(inode).ok().map(Content::to_vec)
    }

    /// Lists the names in a folder, sorted; none if it does not exist. The root is `""`.
    pub fn external_list(&self, root: &str, path: &str) -> BTreeSet<String> {
        let inner = self.lock();
        let inode = if path.is_empty() { inner.root(root) } else { inner.at(root, path) };
        let entries = inode.and_then(|inode| object(&inner.live, inode).entries()).unwrap_or_default();
        entries.iter().map(|(name, _)| name.text.to_string_lossy().into_owned()).collect()
    }
}

impl Inner {
    fn root(&self, root: &str) -> Option<Inode> {
        find(&self.live, TOP, &RelPath::new(root).expect("a root has a plain path")).ok()?
    }

    fn at(&self, root: &str, path: &str) -> Option<Inode> {
        find(&self.live, self.root(root)?, &RelPath::new(path).expect("a person uses plain paths")).ok()?
    }

    fn external_names(&mut self, root: &str, path: &str, new: Option<(u32, Body)>) {
        let path = RelPath::new(path).expect("a person uses plain paths");
        let folder = self.external_folder(root, &path.parent().expect("a checked path is not the root"));
        let name = path.name().expect("a checked path is not the root");
        self.external_entry(folder, name, new);
    }

    fn external_folder(&mut self, root: &str, path: &RelPath) -> Inode {
        let mut at = self.root(root).expect("the root is there");
        for name in path.as_path() {
            at = match object(&self.live, at).entry(name) {
                Some(inode) => inode,
                None => {
                    self.external_entry(at, name, Some((0o755, Body::Folder(Vec::new())))).expect("just made")
                }
            };
        }
        at
    }

    fn external_entry(&mut self, folder: Inode, name: &OsStr, new: Option<(u32, Body)>) -> Option<Inode> {
        let mount = object(&self.live, folder).mount;
        let to = new.map(|(mode, body)| self.add(Object::new(mode, mount, body)));
        let fate = if self.rules.external_syncs { Fate::Settled } else { Fate::Open };
        let text = format!("person changes {}", name.display());
        self.name(&text, vec![Assignment { folder, name: Name::new(name), to }], fate);
        to
    }

    fn external_syncs(&mut self, inode: Inode) {
        if self.rules.external_syncs {
            self.pending.sync_content(inode);
            self.pending.sync_attributes(inode);
        }
    }
}
