//! What several made of one file, laid over each other. Every clash is found, with who is on which side. Pure but for the contents it is given.

use store::Content;

use crate::merge::claims::{Claim, conflict};
use crate::merge::content::{merge, text};
use crate::merge::lines::differs_at;
use crate::{BlobSource, Clash, Conflict, ConflictHunk, Credit, PathKey, Result, UnstoredBlobs};

/// What the root must hold, and what is to be there.
type Laid = (Option<Content>, Option<Content>);

/// Lays one claim after the other over the first, each against its own base. All are about one file.
pub(crate) fn three_way(
    key: &PathKey,
    claims: &[Claim],
    contents: &dyn BlobSource,
    unstored: &mut UnstoredBlobs,
) -> Result<std::result::Result<Laid, Conflict>> {
    let [first, rest @ ..] = claims else { return Ok(Ok((None, None))) };
    let mut pile = Pile {
        root: first.root.clone(),
        from: first.from.clone(),
        now: first.after.clone(),
        merged: vec![first],
        apart: Vec::new(),
        clash: None,
        hunks: Vec::new(),
        contents,
        unstored,
    };
    for (place, claim) in rest.iter().enumerate() {
        let is_known = claim.builds
            || claim.from == pile.from
            || claim.from == pile.now
            || claims[..=place].iter().any(|earlier| earlier.after == claim.from);
        if !is_known {
            pile.lay_over_outside(claim)?;
        }
        pile.lay(claim)?;
    }
    let Pile { root, now, clash, mut hunks, .. } = pile;
    Ok(match clash {
        None => Ok((root, now)),
        Some(clash) => {
            hunks.sort_by_key(|hunk| hunk.line);
            Err(Conflict { hunks, ..conflict(key.clone(), clash, root, claims) })
        }
    })
}

/// What was laid so far.
struct Pile<'a> {
    root: Option<Content>,
    from: Option<Content>,
    now: Option<Content>,
    /// Those that it is made of.
    merged: Vec<&'a Claim>,
    /// Those that clashed, and are not in it.
    apart: Vec<&'a Claim>,
    /// The worst clash, so that it does not depend on the order.
    clash: Option<Clash>,
    hunks: Vec<ConflictHunk>,
    contents: &'a dyn BlobSource,
    unstored: &'a mut UnstoredBlobs,
}

impl<'a> Pile<'a> {
    /// Somebody outside changed the file before this claim. What was merged so far goes over that.
    fn lay_over_outside(&mut self, claim: &'a Claim) -> Result<()> {
        let outside = claim.from.clone();
        match merge(self.from.as_ref(), self.now.as_ref(), outside.as_ref(), self.contents, self.unstored)? {
            Ok(merged) => self.now = merged,
            Err((clash, hunks)) => {
                let base = self.from.clone();
                self.note(clash, hunks, base.as_ref(), Vec::new())?;
                self.apart.append(&mut self.merged);
                self.now.clone_from(&outside);
            }
        }
        self.root.clone_from(&claim.root);
        self.from = outside;
        Ok(())
    }

    fn lay(&mut self, claim: &'a Claim) -> Result<()> {
        let (base, after) = (claim.from.as_ref(), claim.after.as_ref());
        let laid = merge(base, self.now.as_ref(), after, self.contents, self.unstored)?;
        // Two of which neither was merged may clash with each other as well.
        let mut no_use = UnstoredBlobs::default();
        for other in self.apart.clone().into_iter().filter(|other| other.from == claim.from) {
            if let Err((clash, hunks)) = merge(base, other.after.as_ref(), after, self.contents, &mut no_use)?
            {
                let other = [other.credit.clone()];
                self.keep(
                    clash,
                    credited(hunks, |_| Ok(other.to_vec()), std::slice::from_ref(&claim.credit))?,
                );
            }
        }
        match laid {
            Ok(merged) => {
                self.now = merged;
                self.merged.push(claim);
            }
            Err((clash, hunks)) => {
                self.note(clash, hunks, base, vec![claim.credit.clone()])?;
                self.apart.push(claim);
            }
        }
        Ok(())
    }

    /// Notes a clash with those that were merged so far.
    fn note(
        &mut self,
        clash: Clash,
        hunks: Vec<ConflictHunk>,
        base: Option<&Content>,
        theirs: Vec<Credit>,
    ) -> Result<()> {
        let hunks = credited(hunks, |hunk| self.who_changed(hunk, base), &theirs)?;
        self.keep(clash, hunks);
        Ok(())
    }

    /// Those of the merged who changed these lines; all of them when that cannot be told.
    fn who_changed(&self, hunk: &ConflictHunk, base: Option<&Content>) -> Result<Vec<Credit>> {
        let read = |content: Option<&Content>| match content {
            None => Ok(Some([].into())),
            Some(content) => text(content, self.contents),
        };
        let lines = hunk.line - 1..hunk.line - 1 + hunk.base.len() as u64;
        let mut credits = Vec::new();
        for claim in &self.merged {
            if let (Some(base), Some(after)) = (read(base)?, read(claim.after.as_ref())?)
                && differs_at(&base, &after, &lines)
            {
                credits.push(claim.credit.clone());
            }
        }
        if credits.is_empty() {
            credits.extend(self.merged.iter().map(|claim| claim.credit.clone()));
        }
        Ok(credits)
    }

    /// Keeps what clashes; where several made the same lines of it, once.
    fn keep(&mut self, clash: Clash, hunks: Vec<ConflictHunk>) {
        self.clash = self.clash.max(Some(clash));
        for hunk in hunks {
            let is_same = |kept: &&mut ConflictHunk, ours, theirs| {
                (kept.line, &kept.base, &kept.ours, &kept.theirs) == (hunk.line, &hunk.base, ours, theirs)
            };
            let mut kept = self.hunks.iter_mut();
            if let Some(kept) = kept.find(|kept| is_same(kept, &hunk.ours, &hunk.theirs)) {
                extend(&mut kept.ours_by, hunk.ours_by);
                extend(&mut kept.theirs_by, hunk.theirs_by);
                continue;
            }
            let mut kept = self.hunks.iter_mut();
            if let Some(kept) = kept.find(|kept| is_same(kept, &hunk.theirs, &hunk.ours)) {
                extend(&mut kept.ours_by, hunk.theirs_by);
                extend(&mut kept.theirs_by, hunk.ours_by);
                continue;
            }
            self.hunks.push(hunk);
        }
    }
}

fn credited(
    hunks: Vec<ConflictHunk>,
    ours: impl Fn(&ConflictHunk) -> Result<Vec<Credit>>,
    theirs: &[Credit],
) -> Result<Vec<ConflictHunk>> {
    let credited =
        |hunk: ConflictHunk| Ok(ConflictHunk { ours_by: ours(&hunk)?, theirs_by: theirs.to_vec(), ..hunk });
    hunks.into_iter().map(credited).collect()
}

fn extend(credits: &mut Vec<Credit>, more: Vec<Credit>) {
    for credit in more {
        if !credits.contains(&credit) {
            credits.push(credit);
        }
    }
}
