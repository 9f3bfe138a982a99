//! What an actor finds in front of it: the base with the changes of the nodes that it needs, combined.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use filetx::RelPath;
use plan::{
    ChangesetId, Combined, Content, ContentInput, ContentKind, PathBytes, PlanId, Plans, Selection, Strategy,
    checked_path,
};
use store::{BlobReader, Store, read_blob};

use super::layout::files;
use crate::Result;
use crate::sandbox::TreeEdit;

/// The longest target of a symlink.
const TARGET_BYTES_MAX: usize = 1 << 16;

/// The changes of needed nodes, for the tree of one root.
pub(crate) struct Front {
    combined: Combined,
    root: PathBytes,
    /// The content that a needed node left at a path.
    pub(super) laid: BTreeMap<PathBytes, Content>,
}

impl Front {
    /// Combines changesets. Of what clashes the paths are given instead.
    pub(crate) fn of(
        plans: &Plans,
        plan: PlanId,
        changesets: &[ChangesetId],
        merge: Strategy,
        root: &PathBytes,
    ) -> Result<std::result::Result<Self, Vec<String>>> {
        let combined = match changesets {
            // An empty selection would be all of them.
            [] => Combined::default(),
            changesets => {
                let selection = Selection { changesets: changesets.to_vec(), ..Selection::default() };
                plans.combine(plan, &selection, merge)?
            }
        };
        let clashes: Vec<String> =
            combined.conflicts().map(|conflict| conflict.key.path.show().into_owned()).collect();
        if !clashes.is_empty() {
            return Ok(Err(clashes));
        }
        let mut front = Self { combined, root: root.clone(), laid: BTreeMap::new() };
        front.laid =
            front.paths().filter_map(|(path, content)| Some((path.clone(), content?.clone()))).collect();
        Ok(Ok(front))
    }

    /// The root, as the plan has it.
    pub(crate) fn root(&self) -> &PathBytes {
        &self.root
    }

    /// The final content of each path that was changed.
    fn paths(&self) -> impl Iterator<Item = (&PathBytes, Option<&Content>)> {
        let ours = self.combined.changes().filter(|(key, _)| key.root == self.root);
        ours.map(|(key, change)| (&key.path, change.after.as_ref()))
    }

    /// Brings the changes into a copy of the base: what goes first, then what comes.
    pub(crate) fn lay(&self, store: &dyn Store, tree: &Path) -> Result<()> {
        let edit = files("change", tree, TreeEdit::open(tree))?;
        for (path, _) in self.paths().filter(|(_, content)| content.is_none()) {
            files("change", tree, edit.remove(&checked_path(path)?))?;
        }
        for (path, content) in self.paths() {
            let Some(content) = content else { continue };
            let path = checked_path(path)?;
            match (content.kind, self.combined.unstored.get(content)) {
                (ContentKind::Symlink, _) => {
                    let target = read_blob(store, content.blob, TARGET_BYTES_MAX)?;
                    files("change", tree, edit.symlink(&path, OsStr::from_bytes(&target)))?;
                }
                (ContentKind::File, Some(bytes)) => {
                    files("change", tree, edit.put(&path, content.mode, &mut &bytes[..]))?;
                }
                (ContentKind::File, None) => {
                    let mut reader = BlobReader::open(store, content.blob)?;
                    files("change", tree, edit.put(&path, content.mode, &mut reader))?;
                }
            }
        }
        Ok(())
    }

    /// The paths that were laid into the tree.
    pub(crate) fn changed(&self) -> Result<BTreeSet<RelPath>> {
        self.paths().map(|(path, _)| Ok(checked_path(path)?)).collect()
    }

    pub(super) fn piece(&self, content: &Content) -> Result<ContentInput> {
        match self.combined.unstored.get(content) {
            Some(bytes) => Ok(ContentInput::file(bytes, content.mode)?),
            None => Ok(ContentInput::stored(content.clone())),
        }
    }
}
