//! Three-way merge: the rule for a single value, and the merge of all claims of one file with the
//! authors of every conflict.
//!
//! Pure but for the contents that it reads.

use std::mem::take;

use store::Content;

use crate::merge::claims::{Claim, conflict};
use crate::merge::content::{merge, text};
use crate::merge::delta::distinct;
use crate::merge::lines::differs_at;
use crate::{Attribution, BlobSource, Conflict, ConflictHunk, ConflictKind, PathKey, Result, UnstoredBlobs};

/// Resolves a three-way merge in which at most one side changed the value, or both made the same
/// change.
pub(crate) fn resolve_trivial<T: PartialEq>(base: T, ours: T, theirs: T) -> Option<T> {
    if ours == theirs || theirs == base {
        Some(ours)
    } else if ours == base {
        Some(theirs)
    } else {
        None
    }
}

/// Content that the root must hold, and merged content.
type Merged = (Option<Content>, Option<Content>);

/// Merges claims of one file in order, each against its own base.
pub(crate) fn three_way(
    key: &PathKey,
    claims: &[Claim],
    contents: &dyn BlobSource,
    unstored: &mut UnstoredBlobs,
) -> Result<std::result::Result<Merged, Conflict>> {
    let [first, rest @ ..] = claims else { return Ok(Ok((None, None))) };
    let mut state = MergeState {
        root_base: first.root_base.clone(),
        base: first.base.clone(),
        content: first.after.clone(),
        merged: vec![first],
        conflicting: Vec::new(),
        kind: None,
        hunks: Vec::new(),
        contents,
        unstored,
    };
    for (index, claim) in rest.iter().enumerate() {
        let is_known = claim.builds_on_earlier
            || claim.base == state.base
            || claim.base == state.content
            || claims[..=index].iter().any(|earlier| earlier.after == claim.base);
        if !is_known {
            state.rebase(claim)?;
        }
        state.merge(claim)?;
    }
    let MergeState { root_base, content, kind, mut hunks, .. } = state;
    Ok(match kind {
        None => Ok((root_base, content)),
        Some(kind) => {
            hunks.sort_by_key(|hunk| hunk.line);
            Err(Conflict { hunks, ..conflict(key.clone(), kind, root_base, claims) })
        }
    })
}

/// Result of the claims merged so far.
struct MergeState<'a> {
    root_base: Option<Content>,
    base: Option<Content>,
    content: Option<Content>,
    /// Claims in `content`.
    merged: Vec<&'a Claim>,
    /// Claims that conflict, and are not in `content`.
    conflicting: Vec<&'a Claim>,
    /// The greatest kind of conflict, so that it does not depend on the order of claims.
    kind: Option<ConflictKind>,
    hunks: Vec<ConflictHunk>,
    contents: &'a dyn BlobSource,
    unstored: &'a mut UnstoredBlobs,
}

impl<'a> MergeState<'a> {
    /// Rebases the merged claims onto the base of a claim: the file was edited outside of the plan
    /// before that claim was recorded.
    fn rebase(&mut self, claim: &'a Claim) -> Result<()> {
        let edited = claim.base.clone();
        let (base, ours) = (self.base.as_ref(), self.content.as_ref());
        match merge(base, ours, edited.as_ref(), self.contents, self.unstored)? {
            Ok(merged) => self.content = merged,
            Err((kind, hunks)) => {
                let base = self.base.clone();
                self.add_conflict(kind, hunks, base.as_ref(), Vec::new())?;
                self.conflicting.append(&mut self.merged);
                self.content.clone_from(&edited);
            }
        }
        self.root_base.clone_from(&claim.root_base);
        self.base = edited;
        Ok(())
    }

    fn merge(&mut self, claim: &'a Claim) -> Result<()> {
        let (base, after) = (claim.base.as_ref(), claim.after.as_ref());
        let merged = merge(base, self.content.as_ref(), after, self.contents, self.unstored)?;
        // A claim may also conflict with claims that were not merged.
        let mut discarded = UnstoredBlobs::default();
        for other in self.conflicting.clone().into_iter().filter(|other| other.base == claim.base) {
            let other_after = other.after.as_ref();
            if let Err((kind, hunks)) = merge(base, other_after, after, self.contents, &mut discarded)? {
                let ours = [other.attribution.clone()];
                let theirs = std::slice::from_ref(&claim.attribution);
                self.add_hunks(kind, attributed(hunks, |_| Ok(ours.to_vec()), theirs)?);
            }
        }
        match merged {
            Ok(merged) => {
                self.content = merged;
                self.merged.push(claim);
            }
            Err((kind, hunks)) => {
                self.add_conflict(kind, hunks, base, vec![claim.attribution.clone()])?;
                self.conflicting.push(claim);
            }
        }
        Ok(())
    }

    /// Adds a conflict with the claims merged so far.
    fn add_conflict(
        &mut self,
        kind: ConflictKind,
        hunks: Vec<ConflictHunk>,
        base: Option<&Content>,
        theirs: Vec<Attribution>,
    ) -> Result<()> {
        let hunks = attributed(hunks, |hunk| self.authors_of(hunk, base), &theirs)?;
        self.add_hunks(kind, hunks);
        Ok(())
    }

    /// Authors among the merged claims who changed the lines of a hunk; all of them if none can
    /// be identified.
    fn authors_of(&self, hunk: &ConflictHunk, base: Option<&Content>) -> Result<Vec<Attribution>> {
        let read = |content: Option<&Content>| match content {
            None => Ok(Some([].into())),
            Some(content) => text(content, self.contents),
        };
        let lines = hunk.line - 1..hunk.line - 1 + hunk.base.len() as u64;
        let mut authors = Vec::new();
        for claim in &self.merged {
            if let (Some(base), Some(after)) = (read(base)?, read(claim.after.as_ref())?)
                && differs_at(&base, &after, &lines)
            {
                authors.push(claim.attribution.clone());
            }
        }
        if authors.is_empty() {
            authors.extend(self.merged.iter().map(|claim| claim.attribution.clone()));
        }
        Ok(authors)
    }

    /// Adds hunks; joins those with the same lines.
    fn add_hunks(&mut self, kind: ConflictKind, hunks: Vec<ConflictHunk>) {
        self.kind = self.kind.max(Some(kind));
        for mut hunk in hunks {
            let is_same = |known: &ConflictHunk, ours, theirs| {
                (known.line, &known.base, &known.ours, &known.theirs) == (hunk.line, &hunk.base, ours, theirs)
            };
            let straight = self.hunks.iter().position(|known| is_same(known, &hunk.ours, &hunk.theirs));
            let swapped = || self.hunks.iter().position(|known| is_same(known, &hunk.theirs, &hunk.ours));
            let Some(index) = straight.or_else(swapped) else {
                self.hunks.push(hunk);
                continue;
            };
            if straight.is_none() {
                std::mem::swap(&mut hunk.ours_by, &mut hunk.theirs_by);
            }
            let known = &mut self.hunks[index];
            known.ours_by = distinct(take(&mut known.ours_by).into_iter().chain(hunk.ours_by));
            known.theirs_by = distinct(take(&mut known.theirs_by).into_iter().chain(hunk.theirs_by));
        }
    }
}

fn attributed(
    hunks: Vec<ConflictHunk>,
    ours: impl Fn(&ConflictHunk) -> Result<Vec<Attribution>>,
    theirs: &[Attribution],
) -> Result<Vec<ConflictHunk>> {
    let attribute =
        |hunk: ConflictHunk| Ok(ConflictHunk { ours_by: ours(&hunk)?, theirs_by: theirs.to_vec(), ..hunk });
    hunks.into_iter().map(attribute).collect()
}
