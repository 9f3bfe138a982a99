-- Version 5. The last entry of a changeset at a path is found without reading the others; a rename is found by both of its paths. The
-- indices have hashes, since a row of an index may not be as long as a path.
CREATE INDEX entries_of_path ON entries (changeset, md5((form::json -> 1)::text), sequence);
CREATE INDEX entries_of_new_path ON entries (changeset, md5((form::json #> '{2,rename,to}')::text), sequence)
    WHERE (form::json #> '{2,rename,to}') IS NOT NULL;
