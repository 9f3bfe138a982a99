-- Version 4. The last entry of a changeset at a path is found without reading the others; a rename is found by both of its paths. A form
-- that somebody made unreadable is in neither index: verification locates it.
CREATE INDEX entries_of_path ON entries (changeset, iif(json_valid(form), form -> '$[1]', NULL), sequence);
CREATE INDEX entries_of_new_path ON entries (changeset, iif(json_valid(form), form -> '$[2].rename.to', NULL), sequence)
    WHERE iif(json_valid(form), form -> '$[2].rename.to', NULL) IS NOT NULL;
