//! Where contents are, by their hashes.
//!
//! Hashes are anywhere, so in one index of all of them nearly every new content has a page of its own, which is more than the rest of its
//! record. So a new one goes into the index of its era, which has a few pages, and from time to time all eras are settled: moved into
//! that of era 0, in the order of hashes, where they share its pages.
//!
//! What makes a hash unique is that whoever adds one has looked for it in the same transaction.

use rusqlite::{Connection, OptionalExtension, params};

use super::failure::Attempt;
use super::values::{page, rows};
use crate::BlobHash;

/// The era of those that are settled.
const SETTLED: i64 = 0;
/// Two to this many contents are an era: more make it take more pages, fewer make more eras to look through.
const ERA_BITS: u32 = 10;
/// Two to this many contents that came after each other are settled together.
const SETTLE_BITS: u32 = 12;

/// The eras that there are besides that of settled contents, oldest first.
pub(super) struct Eras(Vec<i64>);

impl Eras {
    pub(super) fn read(connection: &Connection) -> Attempt<Self> {
        let mut next = connection.prepare_cached("SELECT min(era) FROM blob_numbers WHERE era > ?1")?;
        let mut eras = Vec::new();
        while let Some(era) = next.query_row([eras.last().unwrap_or(&SETTLED)], |row| row.get(0))? {
            eras.push(era);
        }
        Ok(Self(eras))
    }

    /// The number of a content.
    pub(super) fn find(&self, connection: &Connection, hash: BlobHash) -> Attempt<Option<i64>> {
        Ok(self.locate(connection, hash)?.map(|(_, number)| number))
    }

    /// Adds a content of which [`Eras::find`] has found nothing in this transaction.
    pub(super) fn add(&mut self, connection: &Connection, hash: BlobHash, number: i64) -> Attempt<()> {
        let era = SETTLED + 1 + (number >> ERA_BITS);
        connection
            .prepare_cached("INSERT INTO blob_numbers (era, hash, number) VALUES (?1, ?2, ?3)")?
            .execute(params![era, hash, number])?;
        if !self.0.contains(&era) {
            self.0.push(era);
        }
        if number.trailing_zeros() >= SETTLE_BITS { self.settle(connection) } else { Ok(()) }
    }

    pub(super) fn remove(&self, connection: &Connection, hash: BlobHash) -> Attempt<()> {
        let Some((era, _)) = self.locate(connection, hash)? else { return Ok(()) };
        connection
            .prepare_cached("DELETE FROM blob_numbers WHERE era = ?1 AND hash = ?2")?
            .execute(params![era, hash])?;
        Ok(())
    }

    /// The era and the number of a content.
    fn locate(&self, connection: &Connection, hash: BlobHash) -> Attempt<Option<(i64, i64)>> {
        let mut number =
            connection.prepare_cached("SELECT number FROM blob_numbers WHERE era = ?1 AND hash = ?2")?;
        for &era in [SETTLED].iter().chain(self.0.iter().rev()) {
            if let Some(number) = number.query_row(params![era, hash], |row| row.get(0)).optional()? {
                return Ok(Some((era, number)));
            }
        }
        Ok(None)
    }

    fn settle(&mut self, connection: &Connection) -> Attempt<()> {
        connection
            .prepare_cached(
                "INSERT INTO blob_numbers (era, hash, number)
                 SELECT ?1, hash, number FROM blob_numbers WHERE era > ?1 ORDER BY hash",
            )?
            .execute([SETTLED])?;
        connection.prepare_cached("DELETE FROM blob_numbers WHERE era > ?1")?.execute([SETTLED])?;
        self.0.clear();
        Ok(())
    }
}

/// Hashes behind one, in their order.
pub(super) fn list(connection: &Connection, after: Option<BlobHash>) -> Attempt<Vec<BlobHash>> {
    let after = after.map_or(Vec::new(), |hash| hash.as_bytes().to_vec());
    let sql =
        "SELECT hash FROM (SELECT hash FROM blob_numbers WHERE era = ?1 AND hash > ?2 ORDER BY hash LIMIT ?3)
         UNION SELECT hash FROM blob_numbers WHERE era > ?1 AND hash > ?2 ORDER BY hash LIMIT ?3";
    rows(connection, sql, params![SETTLED, after, page(None)], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connect::MIGRATIONS;
    use std::collections::BTreeMap;

    fn tables() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        MIGRATIONS.iter().for_each(|sql| connection.execute_batch(sql).unwrap());
        connection
    }

    fn hash(number: i64) -> BlobHash {
        BlobHash::of(&number.to_le_bytes())
    }

    fn all(connection: &Connection) -> Vec<BlobHash> {
        let mut hashes = Vec::new();
        loop {
            let more = list(connection, hashes.last().copied()).unwrap();
            if more.is_empty() {
                return hashes;
            }
            hashes.extend(more);
        }
    }

    #[test]
    fn what_was_added_is_found_and_listed_once_however_many_eras_it_has_seen() {
        let connection = tables();
        let mut eras = Eras::read(&connection).unwrap();
        let mut model = BTreeMap::new();
        let (mut most, mut settled) = (0, 0);
        for number in 1..=(5 << (SETTLE_BITS - 1)) {
            assert_eq!(eras.find(&connection, hash(number)).unwrap(), None);
            eras.add(&connection, hash(number), number).unwrap();
            model.insert(hash(number), number);
            most = most.max(eras.0.len());
            settled += usize::from(eras.0.is_empty());
            if number % 7 == 0 {
                eras.remove(&connection, hash(number / 2)).unwrap();
                model.remove(&hash(number / 2));
            }
        }
        // The last one settled is in an era of its own: counting begins at 1, eras at 0.
        assert_eq!((most, settled), (1 << (SETTLE_BITS - ERA_BITS), 2));
        let again = Eras::read(&connection).unwrap();
        assert_eq!(again.0, eras.0);
        for eras in [&eras, &again] {
            for number in (1..=(5 << (SETTLE_BITS - 1))).step_by(3) {
                let expected = model.get(&hash(number)).copied();
                assert_eq!(eras.find(&connection, hash(number)).unwrap(), expected, "{number}");
            }
        }
        assert_eq!(all(&connection), model.into_keys().collect::<Vec<_>>());
    }

    #[test]
    fn numbers_that_are_given_again_are_no_matter() {
        let connection = tables();
        let mut eras = Eras::read(&connection).unwrap();
        eras.add(&connection, hash(1), 5000).unwrap();
        eras.add(&connection, hash(2), 3).unwrap();
        eras.remove(&connection, hash(1)).unwrap();
        eras.add(&connection, hash(3), 5000).unwrap();
        for eras in [eras, Eras::read(&connection).unwrap()] {
            let numbers = [1, 2, 3].map(|number| eras.find(&connection, hash(number)).unwrap());
            assert_eq!(numbers, [None, Some(3), Some(5000)]);
        }
    }
}
