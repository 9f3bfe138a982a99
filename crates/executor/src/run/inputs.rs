//! The input of an actor: the base, with the combined changes of the nodes that it needs.

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

use super::layout::in_sandbox;
use crate::Result;
use crate::sandbox::TreeEditor;

/// The longest target of a symlink.
const TARGET_BYTES_MAX: usize = 1 << 16;

/// The combined changes of needed nodes to one root.
pub(crate) struct UpstreamChanges {
    combined: Combined,
    root: PathBytes,
    /// The content of each path that a needed node created or modified.
    pub(super) contents: BTreeMap<PathBytes, Content>,
}

impl UpstreamChanges {
    /// Combines changesets. Returns the conflicting paths if they do not merge.
    pub(crate) fn combine(
        plans: &Plans,
        plan: PlanId,
        changesets: &[ChangesetId],
        merge: Strategy,
        root: &PathBytes,
    ) -> Result<std::result::Result<Self, Vec<String>>> {
        let combined = match changesets {
            // An empty selection selects all changesets.
            [] => Combined::default(),
            changesets => {
                let selection = Selection { changesets: changesets.to_vec(), ..Selection::default() };
                plans.combine(plan, &selection, merge)?
            }
        };
        let conflicts: Vec<String> =
            combined.conflicts().map(|conflict| conflict.key.path.show().into_owned()).collect();
        if !conflicts.is_empty() {
            return Ok(Err(conflicts));
        }
        let mut upstream = Self { combined, root: root.clone(), contents: BTreeMap::new() };
        upstream.contents =
            upstream.paths().filter_map(|(path, content)| Some((path.clone(), content?.clone()))).collect();
        Ok(Ok(upstream))
    }

    /// The root, as the plan lists it.
    pub(crate) fn root(&self) -> &PathBytes {
        &self.root
    }

    /// The final content of each changed path; none for a deleted one.
    fn paths(&self) -> impl Iterator<Item = (&PathBytes, Option<&Content>)> {
        let of_root = self.combined.changes().filter(|(key, _)| key.root == self.root);
        of_root.map(|(key, change)| (&key.path, change.after.as_ref()))
    }

    /// Applies the changes to a copy of the base: deletions first.
    pub(crate) fn apply_to(&self, store: &dyn Store, tree: &Path) -> Result<()> {
        let editor = in_sandbox("change", tree, TreeEditor::open(tree))?;
        for (path, _) in self.paths().filter(|(_, content)| content.is_none()) {
            in_sandbox("change", tree, editor.remove(&checked_path(path)?))?;
        }
        for (path, content) in self.paths() {
            let Some(content) = content else { continue };
            let path = checked_path(path)?;
            match (content.kind, self.combined.unstored.get(content)) {
                (ContentKind::Symlink, _) => {
                    let target = read_blob(store, content.blob, TARGET_BYTES_MAX)?;
                    in_sandbox("change", tree, editor.symlink(&path, OsStr::from_bytes(&target)))?;
                }
                (ContentKind::File, Some(bytes)) => {
                    in_sandbox("change", tree, editor.put(&path, content.mode, &mut &bytes[..]))?;
                }
                (ContentKind::File, None) => {
                    let mut reader = BlobReader::open(store, content.blob)?;
                    in_sandbox("change", tree, editor.put(&path, content.mode, &mut reader))?;
                }
            }
        }
        Ok(())
    }

    /// The paths that [`apply_to`](Self::apply_to) changes.
    pub(crate) fn changed_paths(&self) -> Result<BTreeSet<RelPath>> {
        self.paths().map(|(path, _)| Ok(checked_path(path)?)).collect()
    }

    pub(super) fn piece(&self, content: &Content) -> Result<ContentInput> {
        match self.combined.unstored.get(content) {
            Some(bytes) => Ok(ContentInput::file(bytes, content.mode)?),
            None => Ok(ContentInput::stored(content.clone())),
        }
    }
}
