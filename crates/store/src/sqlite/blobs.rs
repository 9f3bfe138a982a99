//! Blobs in SQLite.

use rusqlite::{Connection, OptionalExtension, params};

use super::columns::{Count, integer, page, rows};
use super::engine::failure::EngineResult;
use crate::{
    Blob, BlobHash, BlobStore, Chunk, Codec, Error, GcMode, GcOptions, GcStats, PackedBlob, Result,
    SqliteStore, Time, UploadId,
};

impl BlobStore for SqliteStore {
    fn put_blob(&self, blob: &PackedBlob) -> Result<()> {
        let blob = blob.clone();
        let bytes = blob.chunk().stored().len();
        self.engine.write("store a blob", bytes, move |connection, now| {
            // Storing a blob again restarts its grace period.
            insert(connection, now, &blob, "UPDATE SET touched_at = excluded.touched_at")
        })
    }

    fn append_upload(&self, upload: UploadId, first: u64, chunks: &[Chunk]) -> Result<()> {
        let chunks = chunks.to_vec();
        let bytes = chunks.iter().map(|chunk| chunk.stored().len()).sum();
        self.engine.write("upload chunks", bytes, move |connection, now| {
            append(connection, now, upload, first, &chunks)
        })
    }

    fn finish_upload(&self, upload: UploadId, blob: &Blob) -> Result<()> {
        let blob = blob.clone();
        self.engine
            .write("finish an upload", 0, move |connection, now| finish(connection, now, upload, &blob))
    }

    fn drop_upload(&self, upload: UploadId) -> Result<()> {
        self.engine.write("drop an upload", 0, move |connection, _| drop_upload(connection, upload))
    }

    fn blob(&self, hash: BlobHash) -> Result<Option<Blob>> {
        self.engine.read("look up a blob", |connection, _| get(connection, hash))
    }

    fn blob_chunk(&self, hash: BlobHash, number: u64) -> Result<Option<Chunk>> {
        self.engine.read("read a blob", |connection, _| chunk(connection, hash, number))
    }

    fn small_blobs(&self, hashes: &[BlobHash]) -> Result<Vec<(BlobHash, Chunk)>> {
        self.engine.read("read blobs", |connection, _| small(connection, hashes))
    }

    fn blob_hashes(&self, after: Option<BlobHash>) -> Result<Vec<BlobHash>> {
        self.engine.read("list blobs", |connection, _| {
            let after = after.map_or(Vec::new(), |hash| hash.as_bytes().to_vec());
            let sql = "SELECT hash FROM blobs WHERE hash > ?1 ORDER BY hash LIMIT ?2";
            rows(connection, sql, params![after, page(None)], |row| row.get(0))
        })
    }

    fn collect_garbage(&self, options: &GcOptions) -> Result<GcStats> {
        let grace = options.grace;
        if options.mode == GcMode::DryRun {
            return self
                .engine
                .read("count garbage", |connection, now| count_unused(connection, now.minus(grace)));
        }
        let mut all = GcStats::default();
        loop {
            let some = self.engine.write("collect garbage", 0, move |connection, now| {
                remove_unused(connection, now.minus(grace))
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

/// Stores a blob together with the entry that refers to it.
pub(super) fn put_with_entry(connection: &Connection, now: Time, blob: &PackedBlob) -> EngineResult<()> {
    insert(connection, now, blob, "NOTHING")
}

fn insert(connection: &Connection, now: Time, blob: &PackedBlob, if_there: &str) -> EngineResult<()> {
    let chunk = blob.chunk();
    connection
        .prepare_cached(&format!(
            "INSERT INTO blobs (hash, bytes, chunks, codec, data, touched_at) VALUES (?1, ?2, 1, ?3, ?4, ?5)
             ON CONFLICT (hash) DO {if_there}"
        ))?
        .execute(params![blob.hash(), chunk.bytes(), chunk.codec(), chunk.stored(), now])?;
    Ok(())
}

/// Tells whether a blob of this length is in the store.
pub(super) fn exists(connection: &Connection, hash: BlobHash, bytes: u64) -> EngineResult<bool> {
    Ok(connection
        .prepare_cached("SELECT 1 FROM blobs WHERE hash = ?1 AND bytes = ?2")?
        .exists(params![hash, integer(bytes)])?)
}

fn append(
    connection: &Connection,
    now: Time,
    upload: UploadId,
    first: u64,
    chunks: &[Chunk],
) -> EngineResult<()> {
    let touched = connection
        .prepare_cached("UPDATE uploads SET touched_at = ?2 WHERE id = ?1")?
        .execute(params![upload, now])?;
    if touched == 0 {
        if first > 0 {
            return Err(Error::not_found("upload", upload).into());
        }
        connection.prepare_cached("INSERT INTO uploads VALUES (?1, ?2)")?.execute(params![upload, now])?;
    }
    for (number, chunk) in (first..).zip(chunks) {
        // A repeated call writes the same chunks again.
        connection
            .prepare_cached(
                "INSERT INTO blob_chunks (upload, number, bytes, codec, data) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (upload, number) DO UPDATE SET bytes = excluded.bytes, codec = excluded.codec, data = excluded.data",
            )?
            .execute(params![upload, integer(number), chunk.bytes(), chunk.codec(), chunk.stored()])?;
    }
    Ok(())
}

fn finish(connection: &Connection, now: Time, upload: UploadId, blob: &Blob) -> EngineResult<()> {
    let there = connection
        .prepare_cached("UPDATE blobs SET touched_at = ?2 WHERE hash = ?1 RETURNING upload")?
        .query_row(params![blob.hash, now], |row| row.get::<_, Option<UploadId>>(0))
        .optional()?;
    if let Some(finished) = there {
        return if finished == Some(upload) { Ok(()) } else { drop_upload(connection, upload) };
    }
    let (chunks, bytes) = connection
        .prepare_cached("SELECT count(*), coalesce(sum(bytes), 0) FROM blob_chunks WHERE upload = ?1")?
        .query_row([upload], |row| Ok((row.get::<_, Count>(0)?.0, row.get::<_, Count>(1)?.0)))?;
    let begun = connection.prepare_cached("DELETE FROM uploads WHERE id = ?1")?.execute([upload])?;
    if begun == 0 {
        return Err(Error::not_found("upload", upload).into());
    }
    if (chunks, bytes) != (blob.chunks, blob.bytes) {
        let reason = "its upload has the wrong length";
        return Err(Error::DamagedBlob { hash: blob.hash, reason }.into());
    }
    connection
        .prepare_cached(
            "INSERT INTO blobs (hash, bytes, chunks, upload, touched_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![blob.hash, integer(bytes), integer(chunks), upload, now])?;
    Ok(())
}

/// Drops an unfinished upload.
fn drop_upload(connection: &Connection, upload: UploadId) -> EngineResult<()> {
    let begun = connection.prepare_cached("DELETE FROM uploads WHERE id = ?1")?.execute([upload])?;
    if begun == 1 {
        connection.prepare_cached("DELETE FROM blob_chunks WHERE upload = ?1")?.execute([upload])?;
    }
    Ok(())
}

fn get(connection: &Connection, hash: BlobHash) -> EngineResult<Option<Blob>> {
    let found = connection
        .prepare_cached("SELECT bytes, chunks FROM blobs WHERE hash = ?1")?
        .query_row([hash], |row| {
            Ok(Blob { hash, bytes: row.get::<_, Count>(0)?.0, chunks: row.get::<_, Count>(1)?.0 })
        })
        .optional()?;
    Ok(found)
}

fn chunk(connection: &Connection, hash: BlobHash, number: u64) -> EngineResult<Option<Chunk>> {
    let found = connection
        .prepare_cached(
            "SELECT codec, bytes, data FROM blobs WHERE hash = ?1 AND data IS NOT NULL AND ?2 = 0
             UNION ALL
             SELECT blob_chunks.codec, blob_chunks.bytes, blob_chunks.data FROM blobs
             JOIN blob_chunks ON blob_chunks.upload = blobs.upload AND blob_chunks.number = ?2 WHERE hash = ?1",
        )?
        .query_row(params![hash, integer(number)], |row| {
            let data: Vec<u8> = row.get(2)?;
            Ok(Chunk::from_stored(row.get::<_, Codec>(0)?, row.get(1)?, data))
        })
        .optional()?;
    Ok(found)
}

/// Returns those of the blobs that have one chunk.
fn small(connection: &Connection, wanted: &[BlobHash]) -> EngineResult<Vec<(BlobHash, Chunk)>> {
    let mut statement = connection
        .prepare_cached("SELECT codec, bytes, data FROM blobs WHERE hash = ?1 AND data IS NOT NULL")?;
    let mut found = Vec::with_capacity(wanted.len());
    for hash in wanted {
        let chunk = statement.query_row([hash], |row| {
            Ok(Chunk::from_stored(row.get::<_, Codec>(0)?, row.get(1)?, row.get_ref(2)?.as_blob()?))
        });
        found.extend(chunk.optional()?.map(|chunk| (*hash, chunk)));
    }
    Ok(found)
}

/// Selects blobs without an entry that were last touched at this time or before.
const UNUSED: &str = "FROM blobs WHERE touched_at <= ?1 AND hash NOT IN (
    SELECT before_blob FROM entries WHERE before_blob IS NOT NULL
    UNION SELECT after_blob FROM entries WHERE after_blob IS NOT NULL)";

fn count_unused(connection: &Connection, until: Time) -> EngineResult<GcStats> {
    let (blobs, bytes) = connection
        .prepare_cached(&format!("SELECT count(*), coalesce(sum(bytes), 0) {UNUSED}"))?
        .query_row([until], |row| Ok((row.get::<_, Count>(0)?.0, row.get::<_, Count>(1)?.0)))?;
    let uploads = connection
        .prepare_cached("SELECT count(*) FROM uploads WHERE touched_at <= ?1")?
        .query_row([until], |row| row.get::<_, Count>(0))?;
    Ok(GcStats { blobs, bytes, uploads: uploads.0 })
}

/// Removes one batch of garbage, and returns its size; zero when none is left.
fn remove_unused(connection: &Connection, until: Time) -> EngineResult<GcStats> {
    let mut collected = GcStats::default();
    let unused = rows(
        connection,
        &format!("SELECT number, bytes, upload {UNUSED} LIMIT ?2"),
        params![until, COLLECT_MAX],
        |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Count>(1)?.0, row.get::<_, Option<UploadId>>(2)?)),
    )?;
    for (number, bytes, upload) in unused {
        connection.prepare_cached("DELETE FROM blobs WHERE number = ?1")?.execute([number])?;
        connection.prepare_cached("DELETE FROM blob_chunks WHERE upload = ?1")?.execute([upload])?;
        collected.blobs += 1;
        collected.bytes += bytes;
    }
    let sql = "SELECT id FROM uploads WHERE touched_at <= ?1 LIMIT ?2";
    for upload in rows(connection, sql, params![until, COLLECT_MAX], |row| row.get(0))? {
        drop_upload(connection, upload)?;
        collected.uploads += 1;
    }
    Ok(collected)
}
