//! Blobs in PostgreSQL.

use std::collections::{BTreeMap, HashSet};

use tokio_postgres::Row;

use super::columns::{count, get as column, integer, page, params};
use super::engine::failure::{EngineResult, Failure};
use super::engine::transaction::Transaction;
use crate::{
    Blob, BlobHash, BlobStore, Chunk, Codec, Error, GcMode, GcOptions, GcStats, PackedBlob, PostgresStore,
    Result, Time, UploadId,
};

impl BlobStore for PostgresStore {
    fn put_blob(&self, blob: &PackedBlob) -> Result<()> {
        self.engine.write("store a blob", async |transaction| put(transaction, blob).await)
    }

    fn append_upload(&self, upload: UploadId, first: u64, chunks: &[Chunk]) -> Result<()> {
        self.engine
            .write("upload chunks", async |transaction| append(transaction, upload, first, chunks).await)
    }

    fn finish_upload(&self, upload: UploadId, blob: &Blob) -> Result<()> {
        self.engine.write("finish an upload", async |transaction| finish(transaction, upload, blob).await)
    }

    fn drop_upload(&self, upload: UploadId) -> Result<()> {
        self.engine.write("drop an upload", async |transaction| drop_upload(transaction, upload).await)
    }

    fn blob(&self, hash: BlobHash) -> Result<Option<Blob>> {
        self.engine.read("look up a blob", async |transaction| get(transaction, hash).await)
    }

    fn blob_chunk(&self, hash: BlobHash, number: u64) -> Result<Option<Chunk>> {
        self.engine.read("read a blob", async |transaction| chunk(transaction, hash, number).await)
    }

    fn small_blobs(&self, hashes: &[BlobHash]) -> Result<Vec<(BlobHash, Chunk)>> {
        self.engine.read("read blobs", async |transaction| small(transaction, hashes).await)
    }

    fn blob_hashes(&self, after: Option<BlobHash>) -> Result<Vec<BlobHash>> {
        self.engine.read("list blobs", async |transaction| hashes(transaction, after).await)
    }

    fn collect_garbage(&self, options: &GcOptions) -> Result<GcStats> {
        let grace = options.grace;
        if options.mode == GcMode::DryRun {
            return self.engine.read("count garbage", async |transaction| {
                count_unused(transaction, transaction.now.minus(grace)).await
            });
        }
        let mut all = GcStats::default();
        loop {
            let some = self.engine.write("collect garbage", async |transaction| {
                remove_unused(transaction, transaction.now.minus(grace)).await
            })?;
            if some == GcStats::default() {
                return Ok(all);
            }
            all.add(some);
        }
    }
}

/// Blobs that one transaction removes, so that others can write in between.
const COLLECT_MAX: i64 = 1000;

/// Locks blobs against removal until the transaction ends. Returns those that exist, with their
/// lengths.
pub(super) async fn lock_blobs(
    transaction: &Transaction<'_>,
    hashes: Vec<BlobHash>,
) -> EngineResult<HashSet<(BlobHash, u64)>> {
    if hashes.is_empty() {
        return Ok(HashSet::new());
    }
    let sql = "SELECT hash, bytes FROM blobs WHERE hash = ANY ($1) ORDER BY hash FOR KEY SHARE";
    let rows = transaction.rows(sql, params![hashes]).await?;
    rows.iter().map(|row| Ok((column(row, 0)?, count(row, 1)?))).collect()
}

/// Stores blobs together with the entries that refer to them.
pub(super) async fn put_with_entries(
    transaction: &Transaction<'_>,
    blobs: &[&PackedBlob],
) -> EngineResult<()> {
    if blobs.is_empty() {
        return Ok(());
    }
    // In the order of hashes, so that two transactions with the same blobs cannot deadlock.
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
    // Existing blobs are locked. If one was removed in between, the retried transaction stores it.
    if lock_blobs(transaction, hashes).await?.len() == blobs.len() { Ok(()) } else { Err(Failure::LostRace) }
}

/// Stores a blob alone. Storing it again restarts its grace period.
async fn put(transaction: &Transaction<'_>, blob: &PackedBlob) -> EngineResult<()> {
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
) -> EngineResult<()> {
    let begin = "INSERT INTO uploads VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET touched_at = $2";
    let go_on = "UPDATE uploads SET touched_at = $2 WHERE id = $1";
    let sql = if first == 0 { begin } else { go_on };
    if transaction.execute(sql, params![upload, transaction.now]).await? == 0 {
        return Err(Error::not_found("upload", upload).into());
    }
    for (number, chunk) in (first..).zip(chunks) {
        // A repeated call writes the same chunks again.
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

async fn finish(transaction: &Transaction<'_>, upload: UploadId, blob: &Blob) -> EngineResult<()> {
    let existing = transaction
        .row(
            "UPDATE blobs SET touched_at = $2 WHERE hash = $1 RETURNING upload",
            params![blob.hash, transaction.now],
        )
        .await?;
    if let Some(row) = existing {
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
        let reason = "its upload has the wrong length";
        return Err(Error::DamagedBlob { hash: blob.hash, reason }.into());
    }
    let sql = "INSERT INTO blobs (hash, bytes, chunks, upload, touched_at) VALUES ($1, $2, $3, $4, $5)";
    let (bytes, chunks) = (integer(bytes), integer(chunks));
    transaction.execute_one(sql, params![blob.hash, bytes, chunks, upload, transaction.now]).await
}

/// Drops an unfinished upload.
async fn drop_upload(transaction: &Transaction<'_>, upload: UploadId) -> EngineResult<()> {
    if transaction.execute("DELETE FROM uploads WHERE id = $1", params![upload]).await? == 1 {
        transaction.execute("DELETE FROM blob_chunks WHERE upload = $1", params![upload]).await?;
    }
    Ok(())
}

async fn get(transaction: &Transaction<'_>, hash: BlobHash) -> EngineResult<Option<Blob>> {
    let row = transaction.row("SELECT bytes, chunks FROM blobs WHERE hash = $1", params![hash]).await?;
    row.map(|row| Ok(Blob { hash, bytes: count(&row, 0)?, chunks: count(&row, 1)? })).transpose()
}

fn chunk_of(row: &Row, first: usize) -> EngineResult<Chunk> {
    let bytes = u32::try_from(count(row, first + 1)?).unwrap_or(u32::MAX);
    Ok(Chunk::from_stored(column(row, first)?, bytes, column::<&[u8]>(row, first + 2)?))
}

async fn chunk(transaction: &Transaction<'_>, hash: BlobHash, number: u64) -> EngineResult<Option<Chunk>> {
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

/// Returns those of the blobs that have one chunk.
async fn small(transaction: &Transaction<'_>, hashes: &[BlobHash]) -> EngineResult<Vec<(BlobHash, Chunk)>> {
    let sql = "SELECT hash, codec, bytes, data FROM blobs WHERE hash = ANY ($1) AND data IS NOT NULL";
    let rows = transaction.rows(sql, params![hashes.to_vec()]).await?;
    rows.iter().map(|row| Ok((column(row, 0)?, chunk_of(row, 1)?))).collect()
}

/// Returns hashes after one, in ascending order.
async fn hashes(transaction: &Transaction<'_>, after: Option<BlobHash>) -> EngineResult<Vec<BlobHash>> {
    let sql = "SELECT hash FROM blobs WHERE $1::bytea IS NULL OR hash > $1 ORDER BY hash LIMIT $2";
    let rows = transaction.rows(sql, params![after, page(None)]).await?;
    rows.iter().map(|row| column(row, 0)).collect()
}

/// Matches blobs without an entry.
const UNUSED: &str = "NOT EXISTS (SELECT FROM entries WHERE before_blob = blobs.hash)
    AND NOT EXISTS (SELECT FROM entries WHERE after_blob = blobs.hash)";

async fn count_unused(transaction: &Transaction<'_>, until: Time) -> EngineResult<GcStats> {
    let sql = format!(
        "SELECT count(*), coalesce(sum(bytes), 0)::bigint, (SELECT count(*) FROM uploads WHERE touched_at <= $1)
         FROM blobs WHERE touched_at <= $1 AND {UNUSED}"
    );
    let row = transaction.one(&sql, params![until]).await?;
    Ok(GcStats { blobs: count(&row, 0)?, bytes: count(&row, 1)?, uploads: count(&row, 2)? })
}

/// Removes one batch of garbage, and returns its size; zero when none is left.
async fn remove_unused(transaction: &Transaction<'_>, until: Time) -> EngineResult<GcStats> {
    // A locked blob is about to get an entry.
    let sql = format!(
        "SELECT hash FROM blobs WHERE touched_at <= $1 AND {UNUSED} ORDER BY hash LIMIT $2 FOR UPDATE SKIP LOCKED"
    );
    let rows = transaction.rows(&sql, params![until, COLLECT_MAX]).await?;
    let hashes = rows.iter().map(|row| column(row, 0)).collect::<EngineResult<Vec<BlobHash>>>()?;
    // Check again: entries that were committed before the locks were taken are visible only now.
    let sql = format!(
        "DELETE FROM blobs WHERE hash = ANY ($1) AND touched_at <= $2 AND {UNUSED} RETURNING bytes, upload"
    );
    let removed = transaction.rows(&sql, params![hashes, until]).await?;
    let mut collected = GcStats::default();
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
