-- Version 3. Contents are found by one unique index of their hashes again, instead of the eras of version 2.
DROP TABLE blob_numbers;
CREATE UNIQUE INDEX blobs_of_hash ON blobs (hash);
