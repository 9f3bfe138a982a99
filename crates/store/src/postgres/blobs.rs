//! Contents in PostgreSQL.

use std::collections::{BTreeMap, HashSet};

use tokio_postgres::Row;

use super::columns::{count, get as column, integer, page, params};
use super::engine::failure::{Attempt, Failure};
use super::engine::transaction::Transaction;
use crate::{
    Blob, BlobHash, BlobStore, Chunk, Codec, Collect, CollectMode, Collected, Error, PackedBlob,
    PostgresStore, Result, Time, UploadId,
};

impl BlobStore for PostgresStore {
    fn put_blob(&self, blob: &PackedBlob) -> Result<()> {
        self.engine.write("store a content", async |transaction| put(transaction, blob).await)
    }

    fn append_upload(&self, upload: UploadId, first: u64, chunks: &[Chunk]) -> Result<()> {
        self.engine.write("store a part of a content", async |transaction| {
            append(transaction, upload, first, chunks).await
        })
    }

    fn finish_upload(&self, upload: UploadId, blob: &Blob) -> Result<()> {
        self.engine
            .write("finish storing a content", async |transaction| finish(transaction, upload, blob).await)
    }

    fn drop_upload(&self, upload: UploadId) -> Result<()> {
        self.engine
            .write("drop a part of a content", async |transaction| drop_upload(transaction, upload).await)
    }

    fn blob(&self, hash: BlobHash) -> Result<Option<Blob>> {
        self.engine.read("look for a content", async |transaction| get(transaction, hash).await)
    }

    fn blob_chunk(&self, hash: BlobHash, number: u64) -> Result<Option<Chunk>> {
        self.engine.read("read a content", async |transaction| chunk(transaction, hash, number).await)
    }

    fn small_blobs(&self, hashes: &[BlobHash]) -> Result<Vec<(BlobHash, Chunk)>> {
        self.engine.read("read contents", async |transaction| small(transaction, hashes).await)
    }

    fn blob_hashes(&self, after: Option<BlobHash>) -> Result<Vec<BlobHash>> {
        self.engine.read("list contents", async |transaction| hashes(transaction, after).await)
    }

    fn collect(&self, collect: &Collect) -> Result<Collected> {
        let grace = collect.grace;
        if collect.mode == CollectMode::DryRun {
            return self.engine.read("count unused contents", async |transaction| {
                count_unused(transaction, transaction.now.minus(grace)).await
            });
        }
        let mut all = Collected::default();
        loop {
            let some = self.engine.write("remove unused contents", async |transaction| {
                remove_unused(transaction, transaction.now.minus(grace)).await
            })?;
            if some == Collected::default() {
                return Ok(all);
            }
            all.add(some);
        }
    }
}

/// Contents that are removed in one transaction; others write in between.
const COLLECT_MAX: i64 = 1000;

/// Keeps contents from being removed until the transaction ends. Gives those that are there, with their length.
pub(super) async fn hold(
    transaction: &Transaction<'_>,
    hashes: Vec<BlobHash>,
) -> Attempt<HashSet<(BlobHash, u64)>> {
    if hashes.is_empty() {
        return Ok(HashSet::new());
    }
    let sql = "SELECT hash, bytes FROM blobs WHERE hash = ANY ($1) ORDER BY hash FOR KEY SHARE";
    let rows = transaction.rows(sql, params![hashes]).await?;
    rows.iter().map(|row| Ok((column(row, 0)?, count(row, 1)?))).collect()
}

/// Stores contents that entries of the same transaction refer to.
pub(super) async fn put_with_entries(transaction: &Transaction<'_>, blobs: &[&PackedBlob]) -> Attempt<()> {
    if blobs.is_empty() {
        return Ok(());
    }
    // In the order of hashes: two that store the same contents wait for each other in one direction only.
    let blobs: BTreeMap<BlobHash, &Chunk> = blobs.iter().map(|blob| (blob.hash(), blob.chunk())).collect();
    let hashes: Vec<BlobHash> = blobs.keys().copied().collect();
    let bytes: Vec<i64> = blobs.values().map(|chunk| i64::from(chunk.bytes())).collect();
    let codecs: Vec<Codec> = blobs.values().map(|chunk| chunk.codec()).collect();
    let data: Vec<&[u8]> = blobs.values().map(|chunk| chunk.stored()).collect();
    transaction
        .execute(
            "INSERT INTO blobs (hash, bytes, chunks, codec, data, touched_at)
             SELECT hash, bytes, 1, codec, data, $1 FROM unnest($2, $3, $4, $5) AS new (hash, bytes, codec, data)
             ON CONFLICT (hash) DO NOTHING",
            params![transaction.now, hashes, bytes, codecs, data],
        )
        .await?;
    // One that was there is held; one that was removed meanwhile is stored by beginning anew.
    if hold(transaction, hashes).await?.len() == blobs.len() { Ok(()) } else { Err(Failure::Again) }
}

/// Stores a content on its own; when it is there, its time begins anew.
async fn put(transaction: &Transaction<'_>, blob: &PackedBlob) -> Attempt<()> {
    let chunk = blob.chunk();
    transaction
        .execute_one(
            "INSERT INTO blobs (hash, bytes, chunks, codec, data, touched_at) VALUES ($1, $2, 1, $3, $4, $5)
             ON CONFLICT (hash) DO UPDATE SET touched_at = excluded.touched_at",
            params![blob.hash(), i64::from(chunk.bytes()), chunk.codec(), chunk.stored(), transaction.now],
        )
        .await
}

async fn append(
    transaction: &Transaction<'_>,
    upload: UploadId,
    first: u64,
    chunks: &[Chunk],
) -> Attempt<()> {
    let begin = "INSERT INTO uploads VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET touched_at = $2";
    let go_on = "UPDATE uploads SET touched_at = $2 WHERE id = $1";
    let sql = if first == 0 { begin } else { go_on };
    if transaction.execute(sql, params![upload, transaction.now]).await? == 0 {
        return Err(Error::not_found("upload", upload).into());
    }
    for (number, chunk) in (first..).zip(chunks) {
        // Asking again writes the same again.
        transaction
            .execute_one(
                "INSERT INTO blob_chunks (upload, number, bytes, codec, data) VALUES ($1, $2, $3, $4, $5)
                 ON CONFLICT (upload, number) DO UPDATE SET bytes = excluded.bytes, codec = excluded.codec, data = excluded.data",
                params![upload, integer(number), i64::from(chunk.bytes()), chunk.codec(), chunk.stored()],
            )
            .await?;
    }
    Ok(())
}

async fn finish(transaction: &Transaction<'_>, upload: UploadId, blob: &Blob) -> Attempt<()> {
    let known = transaction
        .row(
            "UPDATE blobs SET touched_at = $2 WHERE hash = $1 RETURNING upload",
            params![blob.hash, transaction.now],
        )
        .await?;
    if let Some(row) = known {
        let finished: Option<UploadId> = column(&row, 0)?;
        return if finished == Some(upload) { Ok(()) } else { drop_upload(transaction, upload).await };
    }
    if transaction.execute("DELETE FROM uploads WHERE id = $1", params![upload]).await? == 0 {
        return Err(Error::not_found("upload", upload).into());
    }
    let sql = "SELECT count(*), coalesce(sum(bytes), 0)::bigint FROM blob_chunks WHERE upload = $1";
    let row = transaction.one(sql, params![upload]).await?;
    let (chunks, bytes) = (count(&row, 0)?, count(&row, 1)?);
    if (chunks, bytes) != (blob.chunks, blob.bytes) {
        let reason = "its upload has another length";
        return Err(Error::DamagedBlob { hash: blob.hash, reason }.into());
    }
    let sql = "INSERT INTO blobs (hash, bytes, chunks, upload, touched_at) VALUES ($1, $2, $3, $4, $5)";
    let (bytes, chunks) = (integer(bytes), integer(chunks));
    transaction.execute_one(sql, params![blob.hash, bytes, chunks, upload, transaction.now]).await
}

/// Drops what has not become a content.
async fn drop_upload(transaction: &Transaction<'_>, upload: UploadId) -> Attempt<()> {
    if transaction.execute("DELETE FROM uploads WHERE id = $1", params![upload]).await? == 1 {
        transaction.execute("DELETE FROM blob_chunks WHERE upload = $1", params![upload]).await?;
    }
    Ok(())
}

async fn get(transaction: &Transaction<'_>, hash: BlobHash) -> Attempt<Option<Blob>> {
    let row = transaction.row("SELECT bytes, chunks FROM blobs WHERE hash = $1", params![hash]).await?;
    row.map(|row| Ok(Blob { hash, bytes: count(&row, 0)?, chunks: count(&row, 1)? })).transpose()
}

fn chunk_of(row: &Row, first: usize) -> Attempt<Chunk> {
    let bytes = u32::try_from(count(row, first + 1)?).unwrap_or(u32::MAX);
    Ok(Chunk::from_stored(column(row, first)?, bytes, column::<&[u8]>(row, first + 2)?))
}

async fn chunk(transaction: &Transaction<'_>, hash: BlobHash, number: u64) -> Attempt<Option<Chunk>> {
    let row = transaction
        .row(
            "SELECT codec, bytes, data FROM blobs WHERE hash = $1 AND data IS NOT NULL AND $2::bigint = 0
             UNION ALL
             SELECT blob_chunks.codec, blob_chunks.bytes, blob_chunks.data FROM blobs
             JOIN blob_chunks ON blob_chunks.upload = blobs.upload AND blob_chunks.number = $2 WHERE hash = $1",
            params![hash, integer(number)],
        )
        .await?;
    row.as_ref().map(|row| chunk_of(row, 0)).transpose()
}

/// Those of one chunk.
async fn small(transaction: &Transaction<'_>, hashes: &[BlobHash]) -> Attempt<Vec<(BlobHash, Chunk)>> {
    let sql = "SELECT hash, codec, bytes, data FROM blobs WHERE hash = ANY ($1) AND data IS NOT NULL";
    let rows = transaction.rows(sql, params![hashes.to_vec()]).await?;
    rows.iter().map(|row| Ok((column(row, 0)?, chunk_of(row, 1)?))).collect()
}

/// Those behind one, in the order of their hashes.
async fn hashes(transaction: &Transaction<'_>, after: Option<BlobHash>) -> Attempt<Vec<BlobHash>> {
    let sql = "SELECT hash FROM blobs WHERE $1::bytea IS NULL OR hash > $1 ORDER BY hash LIMIT $2";
    let rows = transaction.rows(sql, params![after, page(None)]).await?;
    rows.iter().map(|row| column(row, 0)).collect()
}

/// What nothing refers to, of contents and uploads that were last touched at this time or before.
const UNUSED: &str = "NOT EXISTS (SELECT FROM entries WHERE before_blob = blobs.hash)
    AND NOT EXISTS (SELECT FROM entries WHERE after_blob = blobs.hash)";

async fn count_unused(transaction: &Transaction<'_>, until: Time) -> Attempt<Collected> {
    let sql = format!(
        "SELECT count(*), coalesce(sum(bytes), 0)::bigint, (SELECT count(*) FROM uploads WHERE touched_at <= $1)
         FROM blobs WHERE touched_at <= $1 AND {UNUSED}"
    );
    let row = transaction.one(&sql, params![until]).await?;
    Ok(Collected { blobs: count(&row, 0)?, bytes: count(&row, 1)?, uploads: count(&row, 2)? })
}

/// Removes some of it, and says what; nothing when nothing is left.
async fn remove_unused(transaction: &Transaction<'_>, until: Time) -> Attempt<Collected> {
    // Those that somebody holds are about to be referred to.
    let sql = format!(
        "SELECT hash FROM blobs WHERE touched_at <= $1 AND {UNUSED} ORDER BY hash LIMIT $2 FOR UPDATE SKIP LOCKED"
    );
    let rows = transaction.rows(&sql, params![until, COLLECT_MAX]).await?;
    let hashes = rows.iter().map(|row| column(row, 0)).collect::<Attempt<Vec<BlobHash>>>()?;
    // Looked at again: what was recorded before the locks were had is seen only now.
    let sql = format!(
        "DELETE FROM blobs WHERE hash = ANY ($1) AND touched_at <= $2 AND {UNUSED} RETURNING bytes, upload"
    );
    let removed = transaction.rows(&sql, params![hashes, until]).await?;
    let mut collected = Collected::default();
    let mut uploads: Vec<UploadId> = Vec::new();
    for row in &removed {
        collected.blobs += 1;
        collected.bytes += count(row, 0)?;
        uploads.extend(column::<Option<UploadId>>(row, 1)?);
    }
    let sql = "DELETE FROM uploads WHERE id IN
               (SELECT id FROM uploads WHERE touched_at <= $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING id";
    for row in transaction.rows(sql, params![until, COLLECT_MAX]).await? {
        collected.uploads += 1;
        uploads.push(column(&row, 0)?);
    }
    transaction.execute("DELETE FROM blob_chunks WHERE upload = ANY ($1)", params![uploads]).await?;
    Ok(collected)
}
