//! The bytes of a record: one transaction in a journal.
//!
//! All numbers are little-endian; a byte string is its length as `u32`, then its bytes.
//!
//! | bytes | content |
//! |---|---|
//! | 0..4 | magic `FTXR` |
//! | 4..8 | length of the body |
//! | 8..16 | epoch |
//! | 16..24 | sequence number in the epoch, from 1 |
//! | 24..56 | checksum: BLAKE3 of the previous record's checksum, bytes 0..24 and the body |
//! | 56.. | body: transaction id (16), owner, roots (`u16` count, then paths), changes (`u32` count) |
//! | | zeros up to the next multiple of 512 |
//!
//! The first record chains to the hash of the epoch, so a record of an older epoch is never part of
//! the chain. Records start at a sector boundary: writing one never rewrites a sector with
//! acknowledged bytes.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::path::os_string;
use crate::tx::change::{Change, Content, ContentBase, Fingerprint, Observed, Staged, TargetState};
use crate::{Hash, RelPath, Step};

/// Alignment of records: the unit that disks write atomically.
pub(crate) const SECTOR_BYTES: usize = 512;
/// Bytes before the body.
pub(crate) const HEAD_BYTES: usize = 56;
/// Maximum length of a body, in bytes.
pub(crate) const BODY_BYTES_MAX: usize = 512 * 1024 * 1024;

const MAGIC: [u8; 4] = *b"FTXR";
/// Largest mode: permission bits and the three bits above them.
const MODE_MAX: u32 = 0o7777;
/// Maximum length of a file before the bytes of a record, in bytes. No file system has longer ones.
const LEN_MAX: u64 = 1 << 62;

/// One transaction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub id: u128,
    /// Data of the owner of the transaction, opaque here.
    pub owner: Vec<u8>,
    /// Paths of the roots, which `Change::root` indexes; empty in an own folder.
    pub roots: Vec<PathBuf>,
    pub changes: Vec<Change>,
}

impl AsRef<[Change]> for Record {
    fn as_ref(&self) -> &[Change] {
        &self.changes
    }
}

/// Position in the chain of records of an epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chain {
    pub epoch: u64,
    /// Sequence number of the last record; 0 before the first.
    pub sequence: u64,
    /// Checksum of the last record.
    pub last_checksum: Hash,
}

impl Chain {
    pub(crate) fn start(epoch: u64) -> Self {
        Self { epoch, sequence: 0, last_checksum: Hash::of(&epoch.to_le_bytes()) }
    }
}

/// Reason why a body is not a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MalformedRecord(pub &'static str);

impl Record {
    /// Encodes the record with its padding, and returns the chain after it.
    pub(crate) fn encode(&self, chain: Chain) -> (Vec<u8>, Chain) {
        let mut out = vec![0; HEAD_BYTES];
        self.encode_body(&mut out);
        let sequence = chain.sequence + 1;
        let body_bytes = out.len() - HEAD_BYTES;
        out[0..4].copy_from_slice(&MAGIC);
        out[4..8].copy_from_slice(&(body_bytes as u32).to_le_bytes());
        out[8..16].copy_from_slice(&chain.epoch.to_le_bytes());
        out[16..24].copy_from_slice(&sequence.to_le_bytes());
        let checksum = checksum(&chain, &out[..24], &out[HEAD_BYTES..]);
        out[24..56].copy_from_slice(&checksum.0);
        out.resize(out.len().next_multiple_of(SECTOR_BYTES), 0);
        (out, Chain { epoch: chain.epoch, sequence, last_checksum: checksum })
    }

    /// Padded length of the record with this head; `None` if it is not the head of a record.
    pub(crate) fn padded_len(head: &[u8]) -> Option<usize> {
        let body_bytes = u32::from_le_bytes(head.get(4..8)?.try_into().ok()?) as usize;
        (head[..4] == MAGIC && body_bytes <= BODY_BYTES_MAX)
            .then(|| (HEAD_BYTES + body_bytes).next_multiple_of(SECTOR_BYTES))
    }

    /// Decodes the record at the start of `bytes`; `Ok(None)` if it is not the next record of
    /// `chain`.
    pub(crate) fn decode(bytes: &[u8], chain: Chain) -> Result<Option<(Record, Chain)>, MalformedRecord> {
        let Some(padded) = Self::padded_len(bytes) else { return Ok(None) };
        if bytes.len() < padded {
            return Ok(None);
        }
        let body_bytes = u32::from_le_bytes(bytes[4..8].try_into().expect("four bytes")) as usize;
        let body = &bytes[HEAD_BYTES..HEAD_BYTES + body_bytes];
        let stored = Hash(bytes[24..56].try_into().expect("32 bytes"));
        if stored != checksum(&chain, &bytes[..24], body) && !Step::CheckChecksum.is_skipped() {
            return Ok(None);
        }
        let record = Self::decode_body(body)?;
        Ok(Some((record, Chain { epoch: chain.epoch, sequence: chain.sequence + 1, last_checksum: stored })))
    }

    /// Checks the rules for records of trees. A record that breaks one was not written by this
    /// program.
    pub(crate) fn check_tree(&self, txn_dir: &RelPath) -> Result<(), MalformedRecord> {
        let mut paths = BTreeSet::new();
        for change in &self.changes {
            if change.root >= self.roots.len() {
                return Err(MalformedRecord("a change names a root that is not listed"));
            }
            if change.path.is_within(txn_dir) {
                return Err(MalformedRecord("a change names the transaction folder"));
            }
            if !paths.insert((change.root, &change.path)) {
                return Err(MalformedRecord("two changes name the same path"));
            }
            if change.before == Observed::PreviousRecord || !is_tree_target(&change.after) {
                return Err(MalformedRecord("a change has a form that trees do not use"));
            }
        }
        Ok(())
    }

    fn encode_body(&self, out: &mut Vec<u8>) {
        out.extend(self.id.to_le_bytes());
        put_bytes(out, &self.owner);
        out.extend((self.roots.len() as u16).to_le_bytes());
        for root in &self.roots {
            put_bytes(out, root.as_os_str().as_encoded_bytes());
        }
        out.extend((self.changes.len() as u32).to_le_bytes());
        for change in &self.changes {
            out.extend((change.root as u16).to_le_bytes());
            put_bytes(out, change.path.to_bytes());
            put_observed(out, &change.before);
            put_target(out, &change.after);
        }
    }

    fn decode_body(body: &[u8]) -> Result<Self, MalformedRecord> {
        let mut input = RecordInput(body);
        let id = input.u128()?;
        let owner = input.bytes()?.to_vec();
        let roots: Vec<PathBuf> = (0..input.u16()?)
            .map(|_| Ok(PathBuf::from(os_string(input.bytes()?))))
            .collect::<Result<_, MalformedRecord>>()?;
        let count = input.u32()?;
        let mut changes = Vec::new();
        for _ in 0..count {
            let root = input.u16()? as usize;
            if root >= roots.len().max(1) {
                return Err(MalformedRecord("a change names a root that is not listed"));
            }
            let path =
                RelPath::from_bytes(input.bytes()?).map_err(|_| MalformedRecord("a path leaves its root"))?;
            changes.push(Change { root, path, before: input.observed()?, after: input.target()? });
        }
        if !input.0.is_empty() {
            return Err(MalformedRecord("it has trailing bytes"));
        }
        Ok(Self { id, owner, roots, changes })
    }
}

/// Content in trees is a whole staged file, or stays: a change of the mode alone.
fn is_tree_target(after: &TargetState) -> bool {
    let TargetState::File { content, .. } = after else { return true };
    content.bytes.is_empty()
        && match &content.base {
            ContentBase::Empty => false,
            ContentBase::Path => true,
            ContentBase::Staged(staged) => content.prefix_len == staged.len,
        }
}

fn checksum(chain: &Chain, head: &[u8], body: &[u8]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    if !Step::CheckChain.is_skipped() {
        hasher.update(&chain.last_checksum.0);
    }
    hasher.update(head).update(body);
    Hash(*hasher.finalize().as_bytes())
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(bytes);
}

fn put_observed(out: &mut Vec<u8>, observed: &Observed) {
    match observed {
        Observed::Absent => out.push(0),
        Observed::Folder { mode } => {
            out.push(1);
            out.extend(mode.to_le_bytes());
        }
        Observed::Symlink { target } => {
            out.push(2);
            put_bytes(out, target.as_encoded_bytes());
        }
        Observed::File { mode, len, fingerprint } => {
            out.push(match fingerprint {
                Fingerprint::Whole(_) => 3,
                Fingerprint::Tail(_) => 4,
                Fingerprint::Bytes(_) => 7,
            });
            out.extend(mode.to_le_bytes());
            match fingerprint {
                Fingerprint::Whole(hash) | Fingerprint::Tail(hash) => {
                    out.extend(len.to_le_bytes());
                    out.extend(hash.0);
                }
                Fingerprint::Bytes(bytes) => put_bytes(out, bytes),
            }
        }
        Observed::Other => out.push(5),
        Observed::PreviousRecord => out.push(6),
    }
}

fn put_target(out: &mut Vec<u8>, after: &TargetState) {
    match after {
        TargetState::Absent => out.push(0),
        TargetState::Folder { mode } => {
            out.push(1);
            out.extend(mode.to_le_bytes());
        }
        TargetState::Symlink { target } => {
            out.push(2);
            put_bytes(out, target.as_encoded_bytes());
        }
        TargetState::File { mode, content } => {
            out.push(match content.base {
                ContentBase::Empty => 3,
                ContentBase::Path => 4,
                ContentBase::Staged(_) => 5,
            });
            out.extend(mode.to_le_bytes());
            if let ContentBase::Staged(staged) = &content.base {
                out.extend(staged.id.to_le_bytes());
                out.extend(staged.number.to_le_bytes());
                out.extend(staged.len.to_le_bytes());
                out.extend(staged.hash.0);
            }
            out.extend(content.prefix_len.to_le_bytes());
            put_bytes(out, &content.bytes);
        }
    }
}

/// The unread rest of a body.
pub(crate) struct RecordInput<'a>(pub &'a [u8]);

impl<'a> RecordInput<'a> {
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], MalformedRecord> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or(MalformedRecord("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn u8(&mut self) -> Result<u8, MalformedRecord> {
        Ok(self.take(1)?[0])
    }

    fn u16(&mut self) -> Result<u16, MalformedRecord> {
        Ok(u16::from_le_bytes(self.take(2)?.try_into().expect("two bytes")))
    }

    fn u32(&mut self) -> Result<u32, MalformedRecord> {
        Ok(u32::from_le_bytes(self.take(4)?.try_into().expect("four bytes")))
    }

    fn u64(&mut self) -> Result<u64, MalformedRecord> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().expect("eight bytes")))
    }

    pub(crate) fn u128(&mut self) -> Result<u128, MalformedRecord> {
        Ok(u128::from_le_bytes(self.take(16)?.try_into().expect("16 bytes")))
    }

    fn hash(&mut self) -> Result<Hash, MalformedRecord> {
        Ok(Hash(self.take(32)?.try_into().expect("32 bytes")))
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], MalformedRecord> {
        let len = self.u32()? as usize;
        self.take(len)
    }

    fn mode(&mut self) -> Result<u32, MalformedRecord> {
        let mode = self.u32()?;
        if mode > MODE_MAX { Err(MalformedRecord("a mode has unknown bits")) } else { Ok(mode) }
    }

    fn content(&mut self, base: ContentBase) -> Result<Content, MalformedRecord> {
        let (prefix_len, bytes) = (self.u64()?, self.bytes()?.to_vec());
        let prefix_max = match &base {
            ContentBase::Empty => 0,
            ContentBase::Path => LEN_MAX,
            ContentBase::Staged(staged) => staged.len.min(LEN_MAX),
        };
        if prefix_len > prefix_max {
            return Err(MalformedRecord("a content has a prefix that its base lacks"));
        }
        Ok(Content { base, prefix_len, bytes })
    }

    fn observed(&mut self) -> Result<Observed, MalformedRecord> {
        Ok(match self.u8()? {
            0 => Observed::Absent,
            1 => Observed::Folder { mode: self.mode()? },
            2 => Observed::Symlink { target: os_string(self.bytes()?) },
            3 => Observed::File {
                mode: self.mode()?,
                len: self.u64()?,
                fingerprint: Fingerprint::Whole(self.hash()?),
            },
            4 => Observed::File {
                mode: self.mode()?,
                len: self.u64()?,
                fingerprint: Fingerprint::Tail(self.hash()?),
            },
            5 => Observed::Other,
            6 => Observed::PreviousRecord,
            7 => {
                let (mode, bytes) = (self.mode()?, self.bytes()?.to_vec());
                Observed::File { mode, len: bytes.len() as u64, fingerprint: Fingerprint::Bytes(bytes) }
            }
            _ => return Err(MalformedRecord("a state before has an unknown kind")),
        })
    }

    fn target(&mut self) -> Result<TargetState, MalformedRecord> {
        let tag = self.u8()?;
        Ok(match tag {
            0 => TargetState::Absent,
            1 => TargetState::Folder { mode: self.mode()? },
            2 => TargetState::Symlink { target: os_string(self.bytes()?) },
            3..=5 => {
                let mode = self.mode()?;
                let base = match tag {
                    3 => ContentBase::Empty,
                    4 => ContentBase::Path,
                    _ => ContentBase::Staged(Staged {
                        id: self.u128()?,
                        number: self.u64()?,
                        len: self.u64()?,
                        hash: self.hash()?,
                    }),
                };
                TargetState::File { mode, content: self.content(base)? }
            }
            _ => return Err(MalformedRecord("a state after has an unknown kind")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Record {
        let path = |text: &str| RelPath::new(text).unwrap();
        let hash = Hash::of(b"x");
        let change = |text, before, after| Change { root: 0, path: path(text), before, after };
        Record {
            id: 7,
            owner: b"plan 1".to_vec(),
            roots: vec![PathBuf::from("/a"), PathBuf::from("/b")],
            changes: vec![
                change(
                    "a",
                    Observed::Absent,
                    TargetState::File { mode: 0o600, content: Content::of_bytes(b"abc".to_vec()) },
                ),
                change("b", Observed::Folder { mode: 0o700 }, TargetState::Absent),
                change("c", Observed::Symlink { target: "t".into() }, TargetState::Folder { mode: 0o755 }),
                change("d", Observed::Other, TargetState::Symlink { target: "u".into() }),
                change(
                    "e",
                    Observed::File { mode: 0o644, len: 3, fingerprint: Fingerprint::Whole(hash) },
                    TargetState::File {
                        mode: 1,
                        content: Content::of_staged(Staged { id: 7, number: 9, len: 4, hash }),
                    },
                ),
                change(
                    "f",
                    Observed::File { mode: 0o644, len: 3, fingerprint: Fingerprint::Tail(hash) },
                    TargetState::File {
                        mode: 2,
                        content: Content { base: ContentBase::Path, prefix_len: 2, bytes: b"z".to_vec() },
                    },
                ),
                change(
                    "h",
                    Observed::File { mode: 0o644, len: 2, fingerprint: Fingerprint::Bytes(b"hi".to_vec()) },
                    TargetState::Absent,
                ),
                Change {
                    root: 1,
                    ..change(
                        "g",
                        Observed::Absent,
                        TargetState::File { mode: 3, content: Content::of_path(5) },
                    )
                },
            ],
        }
    }

    #[test]
    fn records_round_trip() {
        let chain = Chain::start(5);
        let (bytes, after) = sample().encode(chain);
        assert_eq!(bytes.len() % SECTOR_BYTES, 0);
        assert_eq!(Record::padded_len(&bytes), Some(bytes.len()));
        let (record, read_after) = Record::decode(&bytes, chain).unwrap().unwrap();
        assert_eq!(record, sample());
        assert_eq!(read_after, after);
        assert_eq!(after.sequence, 1);
    }

    #[test]
    fn every_flipped_byte_is_detected() {
        let chain = Chain::start(5);
        let (bytes, _) = sample().encode(chain);
        let body_bytes = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        for at in 0..HEAD_BYTES + body_bytes {
            let mut bad = bytes.clone();
            bad[at] ^= 0x40;
            assert_eq!(Record::decode(&bad, chain), Ok(None), "byte {at}");
        }
    }

    #[test]
    fn a_record_of_another_epoch_or_position_is_not_in_the_chain() {
        let (first, chain) = sample().encode(Chain::start(5));
        let (second, _) = sample().encode(chain);
        assert_eq!(Record::decode(&first, Chain::start(6)), Ok(None));
        assert_eq!(Record::decode(&second, Chain::start(5)), Ok(None));
        assert!(Record::decode(&second, chain).unwrap().is_some());
        assert_eq!(Record::decode(&second[..100], chain), Ok(None));
        assert_eq!(Record::decode(&[], chain), Ok(None));
    }

    #[test]
    fn malformed_bodies_are_refused() {
        let check = |body: &[u8], reason: &str| {
            assert_eq!(
                Record::decode_body(body),
                Err(MalformedRecord(match reason {
                    "early" => "it ends too early",
                    "trailing" => "it has trailing bytes",
                    "root" => "a change names a root that is not listed",
                    "path" => "a path leaves its root",
                    "before" => "a state before has an unknown kind",
                    _ => "a state after has an unknown kind",
                }))
            );
        };
        let empty = [[0u8; 16].as_slice(), &[0; 4], &[0; 2], &[0; 4]].concat();
        let one = |change: &[u8]| [[0u8; 16].as_slice(), &[0; 4], &[0; 2], &[1, 0, 0, 0], change].concat();
        check(&empty[..20], "early");
        check(&[empty.as_slice(), &[1]].concat(), "trailing");
        check(&one(&[1, 0]), "root");
        check(&one(&[0, 0, 2, 0, 0, 0, b'.', b'.']), "path");
        check(&one(&[0, 0, 1, 0, 0, 0, b'a', 9]), "before");
        check(&one(&[0, 0, 1, 0, 0, 0, b'a', 0, 9]), "after");
        check(&one(&[0, 0, 255, 255, 255, 255]), "early");
    }

    #[test]
    fn random_bytes_never_panic() {
        let mut random = fastrand::Rng::with_seed(11);
        let (bytes, _) = sample().encode(Chain::start(1));
        let body_bytes = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        for _ in 0..20_000 {
            let mut body = bytes[HEAD_BYTES..HEAD_BYTES + body_bytes].to_vec();
            for _ in 0..random.usize(1..6) {
                let at = random.usize(..body.len());
                body[at] = random.u8(..);
            }
            body.truncate(random.usize(..=body.len()));
            let _ = Record::decode_body(&body);
        }
    }

    fn file(content: Content) -> TargetState {
        TargetState::File { mode: 0o644, content }
    }

    fn staged() -> Content {
        Content::of_staged(Staged { id: 7, number: 0, len: 3, hash: Hash::of(b"abc") })
    }

    fn record(changes: Vec<(&str, TargetState)>) -> Record {
        let change = |(path, after)| Change {
            root: 0,
            path: RelPath::new(path).unwrap(),
            before: Observed::Absent,
            after,
        };
        let roots = vec!["/a".into()];
        Record { id: 7, owner: Vec::new(), roots, changes: changes.into_iter().map(change).collect() }
    }

    #[test]
    fn values_that_this_program_never_writes_are_refused() {
        let decoded = |after| {
            let mut body = Vec::new();
            record(vec![("f", after)]).encode_body(&mut body);
            Record::decode_body(&body).map(drop).map_err(|MalformedRecord(reason)| reason)
        };
        let prefix = |content: Content, prefix_len| file(Content { prefix_len, ..content });
        assert_eq!(decoded(file(staged())), Ok(()));
        assert_eq!(decoded(prefix(Content::of_path(0), 1 << 40)), Ok(()));
        for after in [
            prefix(staged(), 4),
            prefix(Content::of_bytes(b"x".to_vec()), 1),
            prefix(Content::of_path(0), u64::MAX),
        ] {
            assert_eq!(decoded(after), Err("a content has a prefix that its base lacks"));
        }
        assert_eq!(decoded(TargetState::Folder { mode: 0o10000 }), Err("a mode has unknown bits"));
    }

    #[test]
    fn records_that_trees_never_write_are_refused() {
        let checked = |record: &Record| {
            record.check_tree(&RelPath::new(".txn").unwrap()).map_err(|MalformedRecord(reason)| reason)
        };
        let sound = record(vec![
            ("f", file(staged())),
            ("g", file(Content::of_path(3))),
            (".txnx", TargetState::Absent),
        ]);
        assert_eq!(checked(&sound), Ok(()));
        let unlisted = Record { roots: Vec::new(), ..sound };
        assert_eq!(checked(&unlisted), Err("a change names a root that is not listed"));
        for path in [".txn", ".txn/journal"] {
            let own = record(vec![(path, TargetState::Absent)]);
            assert_eq!(checked(&own), Err("a change names the transaction folder"));
        }
        let twice = record(vec![("f", TargetState::Absent), ("f", file(staged()))]);
        assert_eq!(checked(&twice), Err("two changes name the same path"));
        let half = Content { prefix_len: 2, ..staged() };
        for content in [half, Content::of_bytes(b"x".to_vec())] {
            let other = record(vec![("f", file(content))]);
            assert_eq!(checked(&other), Err("a change has a form that trees do not use"));
        }
    }
}
