-- Version 2. Contents are found by hash in eras, of which 0 has those that are settled: hashes.rs says why. No constraint says that a hash
-- is there once: whoever adds one looks first, in the same transaction.
CREATE TABLE blob_numbers (
    era    INTEGER NOT NULL CHECK (era >= 0),
    hash   BLOB NOT NULL CHECK (length(hash) = 32),
    number INTEGER NOT NULL,
    PRIMARY KEY (era, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs_of_2 (
    number     INTEGER PRIMARY KEY,
    hash       BLOB NOT NULL CHECK (length(hash) = 32),
    bytes      INTEGER NOT NULL,
    chunks     INTEGER NOT NULL CHECK (chunks >= 1),
    codec      INTEGER,             -- 0 plain, 1 zstd; of a content of one chunk
    data       BLOB,
    upload     BLOB,                -- of a longer one
    touched_at INTEGER NOT NULL,
    CHECK ((data IS NULL) = (codec IS NULL)),
    CHECK ((data IS NULL) = (upload IS NOT NULL))
) STRICT;

INSERT INTO blob_numbers SELECT 0, hash, number FROM blobs ORDER BY hash;
INSERT INTO blobs_of_2 SELECT number, hash, bytes, chunks, codec, data, upload, touched_at FROM blobs;
DROP TABLE blobs;
ALTER TABLE blobs_of_2 RENAME TO blobs;
