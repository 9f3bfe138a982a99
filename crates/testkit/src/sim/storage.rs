//! The storage traits of `filetx` on the simulated disk.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::{fmt, io};

use filetx::{FileId, FileKind, FsSync, OpenMode, RelPath, RenameMode, Stat, Storage, StoredFile};

use super::content::Content;
use super::disk::{Inner, SimDisk};
use super::fault::{Call, Trouble};
use super::object::{Assignment, Attributes, Body, Inode, Name, Object, TOP, find, object};
use super::pending::Fate;

/// A root of a simulated disk.
pub(super) struct Root {
    disk: SimDisk,
    inode: Inode,
}

/// An open file.
struct Handle {
    disk: SimDisk,
    inode: Inode,
    path: RelPath,
    writable: bool,
}

impl Root {
    pub(super) fn new(disk: SimDisk, inode: Inode) -> Self {
        Self { disk, inode }
    }
}

impl Storage for Root {
    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>> {
        let inner = self.disk.alive()?;
        match find(&inner.live, self.inode, path) {
            // Nothing exists below a file.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
            found => Ok(found?.map(|inode| inner.stat(inode))),
        }
    }

    fn open(&self, path: &RelPath, how: OpenMode) -> io::Result<Box<dyn StoredFile>> {
        let (inode, writable) = match how {
            OpenMode::Read => (open_existing(&*self.disk.alive()?, self.inode, path, 0o400)?, false),
            OpenMode::Write => (open_existing(&*self.disk.alive()?, self.inode, path, 0o200)?, true),
            OpenMode::Create { mode } => {
                (self.make(format!("create {path}"), path, mode, Body::File(Content::default()))?, true)
            }
        };
        Ok(Box::new(Handle { disk: self.disk.clone(), inode, path: path.clone(), writable }))
    }

    fn list(&self, folder: &RelPath) -> io::Result<Vec<OsString>> {
        let inner = self.disk.alive()?;
        let inode = inner.folder(self.inode, folder)?;
        let entries = object(&inner.live, inode).entries().unwrap_or_default();
        Ok(entries.iter().map(|(name, _)| name.text.clone()).collect())
    }

    fn read_link(&self, path: &RelPath) -> io::Result<OsString> {
        let inner = self.disk.alive()?;
        match &object(&inner.live, inner.existing(self.inode, path)?).body {
            Body::Symlink(target) => Ok(target.clone()),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn make_folder(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        self.make(format!("make folder {path}"), path, mode, Body::Folder(Vec::new())).map(drop)
    }

    fn make_symlink(&self, target: &OsStr, path: &RelPath) -> io::Result<()> {
        let text = format!("make symlink {path} to {}", target.display());
        self.make(text, path, 0o777, Body::Symlink(target.to_owned())).map(drop)
    }

    fn link(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        let text = format!("link {from} as {to}");
        let mut call = self.disk.call(|| text.clone())?;
        call.refuse(true)?;
        let inner = &mut *call.inner;
        if !inner.rules.links {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let inode = inner.existing(self.inode, from)?;
        let place = inner.free_place(self.inode, to)?;
        if matches!(object(&inner.live, inode).body, Body::Folder(_)) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        inner.same_mount(inode, place.folder)?;
        inner.name(&text, vec![place.means(Some(inode))], Fate::Open);
        Ok(())
    }

    fn rename(&self, from: &RelPath, to: &RelPath, how: RenameMode) -> io::Result<()> {
        let text = match how {
            RenameMode::Exchange => format!("exchange {from} and {to}"),
            RenameMode::Replace | RenameMode::NoReplace => format!("rename {from} to {to}"),
        };
        let mut call = self.disk.call(|| text.clone())?;
        let is_new_name = matches!(find(&call.inner.live, self.inode, to), Ok(None));
        call.refuse(is_new_name)?;
        let inner = &mut *call.inner;
        let source = inner.place(self.inode, from)?;
        let target = inner.place(self.inode, to)?;
        let assignments = inner.plan_rename(&source, &target, how)?;
        if !assignments.is_empty() {
            inner.name(&text, assignments, Fate::Open);
        }
        Ok(())
    }

    fn remove_file(&self, path: &RelPath) -> io::Result<()> {
        self.remove(format!("remove {path}"), path, |object| match object.entries() {
            Some(_) => Err(io::ErrorKind::IsADirectory.into()),
            None => Ok(()),
        })
    }

    fn remove_folder(&self, path: &RelPath) -> io::Result<()> {
        self.remove(format!("remove folder {path}"), path, |object| match object.entries() {
            None => Err(io::ErrorKind::NotADirectory.into()),
            Some([]) => Ok(()),
            Some(_) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
        })
    }

    fn set_mode(&self, path: &RelPath, mode: u32) -> io::Result<()> {
        let mut call = self.disk.call(|| format!("set mode of {path} to {mode:o}"))?;
        call.refuse(false)?;
        let inode = call.inner.existing(self.inode, path)?;
        let object = object(&call.inner.live, inode);
        if !matches!(object.body, Body::File(_) | Body::Folder(_)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let attributes = Attributes { mode, owner: object.attributes.owner };
        call.inner.set_attributes(inode, attributes);
        Ok(())
    }

    fn copy_attributes(&self, from: &RelPath, to: &RelPath) -> io::Result<()> {
        let mut call = self.disk.call(|| format!("copy attributes of {from} to {to}"))?;
        call.refuse(false)?;
        let inner = &mut *call.inner;
        let from = inner.existing(self.inode, from)?;
        let to = inner.existing(self.inode, to)?;
        let owner = object(&inner.live, from).attributes.owner;
        let mode = object(&inner.live, to).attributes.mode;
        inner.set_attributes(to, Attributes { mode, owner });
        Ok(())
    }

    fn sync_folder(&self, folder: &RelPath) -> io::Result<()> {
        let mut call = self.disk.call(|| format!("sync folder {folder}"))?;
        let refused = call.refuse(false);
        let inner = &mut *call.inner;
        let inode = inner.folder(self.inode, folder)?;
        if refused.is_ok() {
            inner.pending.sync_names(inode, Fate::Settled);
            inner.pending.sync_attributes(inode);
        } else if inner.rules.folder_syncs_forget {
            inner.pending.sync_names(inode, Fate::Forgotten);
        }
        refused
    }

    fn check_writable(&self, folder: &RelPath) -> io::Result<()> {
        let inner = self.disk.alive()?;
        let inode = inner.folder(self.inode, folder)?;
        inner.may(inode, 0o200)
    }

    fn fs_sync(&self) -> io::Result<Option<Box<dyn FsSync>>> {
        let inner = self.disk.alive()?;
        let mount = object(&inner.live, self.inode).mount;
        let watch = || Box::new(WholeDisk { disk: self.disk.clone(), mount }) as Box<dyn FsSync>;
        Ok(inner.rules.syncs_whole.then(watch))
    }

    fn boot_id(&self) -> Option<u128> {
        Some(self.disk.boot())
    }
}

impl Root {
    fn make(&self, text: String, path: &RelPath, mode: u32, body: Body) -> io::Result<Inode> {
        let mut call = self.disk.call(|| text.clone())?;
        call.refuse(true)?;
        let inner = &mut *call.inner;
        let place = inner.free_place(self.inode, path)?;
        let mount = object(&inner.live, place.folder).mount;
        let inode = inner.add(Object::new(mode, mount, body));
        inner.name(&text, vec![place.means(Some(inode))], Fate::Open);
        Ok(inode)
    }

    fn remove(
        &self,
        text: String,
        path: &RelPath,
        allow: impl FnOnce(&Object) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut call = self.disk.call(|| text.clone())?;
        call.refuse(false)?;
        let inner = &mut *call.inner;
        let place = inner.place(self.inode, path)?;
        allow(object(&inner.live, place.inode.ok_or(io::ErrorKind::NotFound)?))?;
        inner.name(&text, vec![place.means(None)], Fate::Open);
        Ok(())
    }
}

/// A mount of the disk, to sync as a whole.
struct WholeDisk {
    disk: SimDisk,
    mount: u64,
}

impl FsSync for WholeDisk {
    fn sync(&self) -> io::Result<()> {
        let mut call = self.disk.call(|| format!("sync everything on mount {}", self.mount))?;
        let refused = call.refuse(false);
        let inner = &mut *call.inner;
        let of_mount =
            |object: &Option<Arc<Object>>| object.as_ref().is_some_and(|object| object.mount == self.mount);
        let inodes: Vec<Inode> =
            (0..inner.live.len()).filter(|inode| of_mount(&inner.live[*inode])).collect();
        for inode in inodes {
            match refused {
                Ok(()) => {
                    inner.pending.sync_content(inode);
                    inner.pending.sync_attributes(inode);
                    inner.pending.sync_names(inode, Fate::Settled);
                }
                // All unwritten pages count as clean from here on.
                Err(_) => inner.pending.forget_content(inode),
            }
        }
        refused
    }
}

impl StoredFile for Handle {
    fn stat(&self) -> io::Result<Stat> {
        Ok(self.disk.alive()?.stat(self.inode))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Ok(self.disk.alive()?.content(self.inode)?.read(buffer, offset))
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut call =
            self.disk.call(|| format!("write {} bytes at {offset} of {}", bytes.len(), self.path))?;
        self.check_writable()?;
        let refused = call.refuse(true);
        let done = match call.trouble {
            None => bytes.len(),
            Some(Trouble::NoSpace) => bytes.len() / 2,
            Some(Trouble::Io | Trouble::Full) => 0,
        };
        call.inner.write(self.inode, &bytes[..done], offset);
        refused
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut call = self.disk.call(|| format!("set length of {} to {len}", self.path))?;
        self.check_writable()?;
        let grows = len > call.inner.content(self.inode)?.len();
        call.refuse(grows)?;
        call.inner.set_len(self.inode, len);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut call = self.disk.call(|| format!("sync data of {}", self.path))?;
        self.sync_content(&mut call)
    }

    fn sync_all(&self) -> io::Result<()> {
        let mut call = self.disk.call(|| format!("sync all of {}", self.path))?;
        self.sync_content(&mut call)?;
        call.inner.pending.sync_attributes(self.inode);
        Ok(())
    }
}

impl Handle {
    fn sync_content(&self, call: &mut Call<'_>) -> io::Result<()> {
        let refused = call.refuse(false);
        match refused {
            Ok(()) => call.inner.pending.sync_content(self.inode),
            Err(_) => call.inner.pending.forget_content(self.inode),
        }
        refused
    }

    fn check_writable(&self) -> io::Result<()> {
        // The error of a write through a read-only handle.
        if self.writable { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }
}

/// A name in a folder, and its present target.
struct Place {
    folder: Inode,
    name: Arc<Name>,
    inode: Option<Inode>,
}

impl Place {
    fn means(&self, to: Option<Inode>) -> Assignment {
        Assignment { folder: self.folder, name: Arc::clone(&self.name), to }
    }
}

impl Inner {
    fn stat(&self, inode: Inode) -> Stat {
        let object = object(&self.live, inode);
        let (kind, len) = match &object.body {
            Body::File(content) => (FileKind::File, content.len()),
            Body::Folder(_) => (FileKind::Folder, 0),
            Body::Symlink(target) => (FileKind::Symlink, target.len() as u64),
            Body::Other => (FileKind::Other, 0),
        };
        Stat {
            kind,
            mode: object.attributes.mode,
            len,
            links: u64::from(self.links[inode]),
            id: FileId { device: object.mount, inode: inode as u64 },
            mount: object.mount,
        }
    }

    fn existing(&self, root: Inode, path: &RelPath) -> io::Result<Inode> {
        find(&self.live, root, path)?.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn folder(&self, root: Inode, path: &RelPath) -> io::Result<Inode> {
        let inode = self.existing(root, path)?;
        match object(&self.live, inode).entries() {
            Some(_) => Ok(inode),
            None => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Returns an entry that this process may change.
    fn place(&self, root: Inode, path: &RelPath) -> io::Result<Place> {
        let (Some(parent), Some(name)) = (path.parent(), path.name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let folder = self.folder(root, &parent)?;
        self.may(folder, 0o200)?;
        // A removed folder may still be open as a root, but takes no new names.
        if self.links[folder] == 0 && folder != TOP {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Place { folder, name: Name::new(name), inode: object(&self.live, folder).entry(name) })
    }

    fn free_place(&self, root: Inode, path: &RelPath) -> io::Result<Place> {
        let place = self.place(root, path)?;
        match place.inode {
            Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
            None => Ok(place),
        }
    }

    fn may(&self, inode: Inode, bit: u32) -> io::Result<()> {
        match object(&self.live, inode).attributes.mode & bit {
            0 => Err(io::ErrorKind::PermissionDenied.into()),
            _ => Ok(()),
        }
    }

    fn same_mount(&self, a: Inode, b: Inode) -> io::Result<()> {
        match object(&self.live, a).mount == object(&self.live, b).mount {
            true => Ok(()),
            false => Err(io::ErrorKind::CrossesDevices.into()),
        }
    }

    /// Returns the assignments of a rename: none if both names are the same file.
    fn plan_rename(&self, source: &Place, target: &Place, how: RenameMode) -> io::Result<Vec<Assignment>> {
        let moved = source.inode.ok_or(io::ErrorKind::NotFound)?;
        self.same_mount(moved, target.folder)?;
        self.same_mount(moved, source.folder)?;
        self.not_into_itself(moved, target.folder)?;
        match (how, target.inode) {
            (RenameMode::Exchange, _) if !self.rules.exchange => Err(io::ErrorKind::Unsupported.into()),
            (RenameMode::Exchange, None) => Err(io::ErrorKind::NotFound.into()),
            (RenameMode::Exchange, Some(other)) => {
                self.same_mount(other, source.folder)?;
                self.not_into_itself(other, source.folder)?;
                Ok(vec![source.means(Some(other)), target.means(Some(moved))])
            }
            (RenameMode::NoReplace, Some(_)) => Err(io::ErrorKind::AlreadyExists.into()),
            (RenameMode::Replace, Some(other)) if other == moved => Ok(Vec::new()),
            (RenameMode::Replace, Some(other)) => {
                self.can_replace(moved, other)?;
                Ok(vec![source.means(None), target.means(Some(moved))])
            }
            (RenameMode::Replace | RenameMode::NoReplace, None) => {
                Ok(vec![source.means(None), target.means(Some(moved))])
            }
        }
    }

    fn can_replace(&self, moved: Inode, other: Inode) -> io::Result<()> {
        self.same_mount(moved, other)?;
        match (object(&self.live, moved).entries(), object(&self.live, other).entries()) {
            (None, None) | (Some(_), Some([])) => Ok(()),
            (None, Some(_)) => Err(io::ErrorKind::IsADirectory.into()),
            (Some(_), None) => Err(io::ErrorKind::NotADirectory.into()),
            (Some(_), Some(_)) => Err(io::ErrorKind::DirectoryNotEmpty.into()),
        }
    }

    /// Refuses to move a folder into itself or below.
    fn not_into_itself(&self, moved: Inode, folder: Inode) -> io::Result<()> {
        let mut to_do = vec![moved];
        let mut entered = BTreeSet::new();
        while let Some(inode) = to_do.pop() {
            let Some(entries) = object(&self.live, inode).entries() else { continue };
            if !entered.insert(inode) {
                continue;
            }
            if inode == folder {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            to_do.extend(entries.iter().map(|(_, child)| *child));
        }
        Ok(())
    }
}

fn open_existing(inner: &Inner, root: Inode, path: &RelPath, bit: u32) -> io::Result<Inode> {
    let inode = inner.existing(root, path)?;
    inner.content(inode)?;
    inner.may(inode, bit)?;
    Ok(inode)
}

impl fmt::Debug for Root {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "root {} of {:?}", self.inode, self.disk)
    }
}
