//! Forged files of a transaction folder: whoever can write there can also compute checksums.

use filetx::Hash;

/// Offset of the body in a record.
pub(crate) const HEAD_BYTES: usize = 56;
/// Offset of the first record in a journal.
pub(crate) const RECORDS_OFFSET: usize = 8192;
const SECTOR_BYTES: usize = 512;

/// A journal: an odd first byte says that the rest is the file itself. Otherwise the rest is epoch and
/// capacity (`u64` each, the capacity on top of the smallest one), and the bodies of records, each after
/// its length (`u16`); header, heads and checksums are computed.
pub(crate) fn journal(bytes: &[u8]) -> Vec<u8> {
    let Some((kind, rest)) = bytes.split_first() else { return Vec::new() };
    if kind % 2 == 1 {
        return rest.to_vec();
    }
    let Some((epoch, rest)) = rest.split_first_chunk::<8>() else { return Vec::new() };
    let Some((spare, mut rest)) = rest.split_first_chunk::<8>() else { return Vec::new() };
    let epoch = u64::from_le_bytes(*epoch);
    let mut file = vec![0; RECORDS_OFFSET];
    let mut last = Hash::of(&epoch.to_le_bytes());
    let mut sequence = 0_u64;
    while let Some((len, after)) = rest.split_first_chunk::<2>() {
        let (body, after) = after.split_at(after.len().min(u16::from_le_bytes(*len).into()));
        rest = after;
        sequence += 1;
        last = put_record(&mut file, epoch, sequence, last, body);
    }
    let capacity = u64::from_le_bytes(*spare).saturating_add(file.len() as u64);
    let slot = if epoch % 2 == 0 { 0 } else { 4096 };
    file[slot..slot + 64].copy_from_slice(&header(epoch, capacity));
    file
}

/// Appends a record and returns its checksum.
fn put_record(file: &mut Vec<u8>, epoch: u64, sequence: u64, last: Hash, body: &[u8]) -> Hash {
    let mut head = b"FTXR".to_vec();
    head.extend((body.len() as u32).to_le_bytes());
    head.extend(epoch.to_le_bytes());
    head.extend(sequence.to_le_bytes());
    let checksum = Hash::of(&[&last.0, &head[..], body].concat());
    file.extend(head);
    file.extend(checksum.0);
    file.extend(body);
    file.resize(file.len().next_multiple_of(SECTOR_BYTES), 0);
    checksum
}

fn header(epoch: u64, capacity: u64) -> [u8; 64] {
    let mut slot = [0; 64];
    slot[..8].copy_from_slice(b"filetx\0\n");
    slot[8..12].copy_from_slice(&1_u32.to_le_bytes());
    slot[16..24].copy_from_slice(&epoch.to_le_bytes());
    slot[24..32].copy_from_slice(&capacity.to_le_bytes());
    let checksum = Hash::of(&slot[..32]);
    slot[32..].copy_from_slice(&checksum.0);
    slot
}

/// Computes the checksum of the first record of a journal of epoch 1 again.
pub(crate) fn repair(journal: &mut [u8]) {
    let Some(record) = journal.get_mut(RECORDS_OFFSET..).filter(|record| record.len() >= HEAD_BYTES) else {
        return;
    };
    let len = u32::from_le_bytes(record[4..8].try_into().unwrap()) as usize;
    let Some(body) = record.get(HEAD_BYTES..).and_then(|body| body.get(..len)) else { return };
    let start = Hash::of(&1_u64.to_le_bytes());
    let checksum = Hash::of(&[&start.0, &record[..24], body].concat());
    record[24..HEAD_BYTES].copy_from_slice(&checksum.0);
}

/// A pointer: an odd first byte says that the rest is the file itself, otherwise it is id and path.
pub(crate) fn pointer(bytes: &[u8]) -> Vec<u8> {
    match bytes.split_first() {
        None => Vec::new(),
        Some((kind, rest)) if kind % 2 == 1 => rest.to_vec(),
        Some((_, rest)) => with_checksum([b"FTXP", rest].concat()),
    }
}

/// A watermark: an odd first byte says that the rest is the file itself, otherwise it is the part after
/// the boot id, and before the checksum.
pub(crate) fn watermark(bytes: &[u8], boot_id: u128) -> Vec<u8> {
    match bytes.split_first() {
        None => Vec::new(),
        Some((kind, rest)) if kind % 2 == 1 => rest.to_vec(),
        Some((_, rest)) => {
            let mut file = [&boot_id.to_le_bytes(), rest].concat();
            file.resize(72, 0);
            with_checksum(file)
        }
    }
}

fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = Hash::of(&bytes);
    bytes.extend(checksum.0);
    bytes
}
