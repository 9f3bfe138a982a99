//! Blobs.

use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use store::limits::{CHUNK_BYTES, GRACE};
use store::{
    Blob, BlobHash, BlobReader, Chunk, GcMode, GcOptions, GcStats, Recording, RequestId, Store, UploadId,
    put_blob, read_blob, read_blobs,
};

use super::Case;
use super::fixtures::*;

pub(super) const CASES: &[Case] = &[
    ("a blob of any length reads back", reads_back),
    ("many small blobs are read at once", read_at_once),
    ("a blob is stored once", stored_once),
    ("garbage is collected after its grace period", collected),
    ("a blob with an entry is kept", kept),
    ("an unfinished upload is not a blob, and is collected", unfinished),
    ("a repeated upload takes effect once", repeated_upload),
    ("a failing source leaves nothing", failing_source),
];

const NOW: Duration = Duration::ZERO;

fn noise(bytes: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(bytes as u64);
    std::iter::repeat_with(|| random.u8(..)).take(bytes).collect()
}

fn collect(store: &dyn Store, mode: GcMode, grace: Duration) -> GcStats {
    store.collect_garbage(&GcOptions { mode, grace }).unwrap()
}

fn read_at_once(store: &Arc<dyn Store>) {
    let store = &**store;
    let put = |content: &[u8]| put_blob(store, &mut &*content).unwrap().hash;
    let (small, empty) = (put(b"small"), put(b""));
    let large = put(&noise(2 * CHUNK_BYTES));
    let found = read_blobs(store, &[small, large, empty, BlobHash::of(b"nobody put this")]).unwrap();
    // Longer and missing blobs are left out.
    assert_eq!(found, HashMap::from([(small, b"small".to_vec()), (empty, Vec::new())]));
    assert!(read_blobs(store, &[]).unwrap().is_empty());
}

fn reads_back(store: &Arc<dyn Store>) {
    let store = &**store;
    for bytes in [0, 1, 5000, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 10 * CHUNK_BYTES + 17] {
        let content = noise(bytes);
        let blob = put_blob(store, &mut content.as_slice()).unwrap();
        assert_eq!((blob.hash, blob.bytes), (BlobHash::of(&content), bytes as u64));
        assert_eq!(store.blob(blob.hash).unwrap(), Some(blob.clone()));
        assert!(read_blob(store, blob.hash, bytes).unwrap() == content);
        let mut streamed = Vec::new();
        BlobReader::open(store, blob.hash).unwrap().read_to_end(&mut streamed).unwrap();
        assert!(streamed == content);
        assert_eq!(store.blob_chunk(blob.hash, blob.chunks).unwrap(), None);
        if bytes > 0 {
            refused(read_blob(store, blob.hash, bytes - 1), "limit-exceeded");
        }
    }
    let nowhere = BlobHash::of(b"nowhere");
    assert_eq!(store.blob(nowhere).unwrap(), None);
    refused(read_blob(store, nowhere, 1), "blob-missing");
}

fn stored_once(store: &Arc<dyn Store>) {
    let store = &**store;
    for bytes in [10, 3 * CHUNK_BYTES] {
        let content = noise(bytes);
        let first = put_blob(store, &mut content.as_slice()).unwrap();
        assert_eq!(put_blob(store, &mut content.as_slice()).unwrap(), first);
    }
    let all = collect(store, GcMode::DryRun, NOW);
    assert_eq!(all, GcStats { blobs: 2, bytes: 10 + 3 * CHUNK_BYTES as u64, uploads: 0 });
}

fn collected(store: &Arc<dyn Store>) {
    let store = &**store;
    let small = put_blob(store, &mut &b"small"[..]).unwrap();
    let large = put_blob(store, &mut noise(2 * CHUNK_BYTES).as_slice()).unwrap();
    assert_eq!(collect(store, GcMode::Remove, GRACE), GcStats::default());
    let unused = GcStats { blobs: 2, bytes: small.bytes + large.bytes, uploads: 0 };
    assert_eq!(collect(store, GcMode::DryRun, NOW), unused);
    assert_eq!(store.blob(small.hash).unwrap(), Some(small.clone()));
    assert_eq!(collect(store, GcMode::Remove, NOW), unused);
    assert_eq!(collect(store, GcMode::Remove, NOW), GcStats::default());
    for blob in [small, large] {
        assert_eq!(store.blob(blob.hash).unwrap(), None);
        assert_eq!(store.blob_chunk(blob.hash, 0).unwrap(), None);
    }
}

fn kept(store: &Arc<dyn Store>) {
    let store = &**store;
    let plan = make_plan(store);
    let (id, epoch) = start(store, plan.id, "coder");
    let (before, after) = (packed(b"before"), packed(b"after"));
    let entry =
        store::NewEntry { before: Some(content(&before)), after: Some(content(&after)), ..deletion("a") };
    let blobs = vec![before.clone(), after.clone()];
    store.record(id, epoch, &Recording { request: RequestId::new(), entries: vec![entry], blobs }).unwrap();
    assert_eq!(collect(store, GcMode::Remove, NOW), GcStats::default());
    assert_eq!(read_blob(store, before.hash(), 100).unwrap(), b"before");
    assert_eq!(read_blob(store, after.hash(), 100).unwrap(), b"after");
    store.remove_plan(&removal(&plan)).unwrap();
    assert_eq!(collect(store, GcMode::Remove, NOW), GcStats { blobs: 2, bytes: 11, uploads: 0 });
}

fn unfinished(store: &Arc<dyn Store>) {
    let store = &**store;
    let (content, upload) = (noise(CHUNK_BYTES), UploadId::new());
    let chunk = Chunk::pack(&content).unwrap();
    refused(store.append_upload(upload, 1, std::slice::from_ref(&chunk)), "not-found");
    store.append_upload(upload, 0, std::slice::from_ref(&chunk)).unwrap();
    let blob = Blob { hash: BlobHash::of(&content), bytes: content.len() as u64, chunks: 1 };
    assert_eq!(store.blob(blob.hash).unwrap(), None);
    refused(store.finish_upload(upload, &Blob { chunks: 2, ..blob.clone() }), "blob-damaged");
    assert_eq!(collect(store, GcMode::Remove, GRACE), GcStats::default());
    let only_upload = GcStats { uploads: 1, ..GcStats::default() };
    assert_eq!(collect(store, GcMode::DryRun, NOW), only_upload);
    assert_eq!(collect(store, GcMode::Remove, NOW), only_upload);
    refused(store.finish_upload(upload, &blob), "not-found");
    store.drop_upload(upload).unwrap();
}

fn repeated_upload(store: &Arc<dyn Store>) {
    let store = &**store;
    let (content, upload) = (noise(CHUNK_BYTES), UploadId::new());
    let chunk = Chunk::pack(&content).unwrap();
    for _ in 0..2 {
        store.append_upload(upload, 0, std::slice::from_ref(&chunk)).unwrap();
    }
    let blob = Blob { hash: BlobHash::of(&content), bytes: content.len() as u64, chunks: 1 };
    for _ in 0..2 {
        store.finish_upload(upload, &blob).unwrap();
    }
    store.drop_upload(upload).unwrap();
    assert!(read_blob(store, blob.hash, CHUNK_BYTES).unwrap() == content);
}

fn failing_source(store: &Arc<dyn Store>) {
    struct Failing(usize);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = buffer.len().min(self.0);
            self.0 -= count;
            if count == 0 { Err(io::Error::other("the drive is gone")) } else { Ok(count) }
        }
    }
    for bytes in [10, 20 * CHUNK_BYTES] {
        refused(put_blob(&**store, &mut Failing(bytes)), "source-unreadable");
        assert_eq!(collect(&**store, GcMode::DryRun, NOW), GcStats::default());
    }
}
