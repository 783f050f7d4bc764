//! The notes of changes, in a separate table.

use memdir_store::notes::{HEAD, Listed, Note, Notes};
use memdir_store::{Context, StoreError};

use super::tree::Tree;
use super::{SqliteDatabase, SqliteError};

pub(super) fn add(tree: &Tree<'_>, note: &Note) -> Result<(), SqliteError> {
    let mut add = tree.prepare_cached("INSERT INTO note (id, bytes) VALUES (?1, ?2)")?;
    add.execute((&note.id, &note.bytes))?;
    Ok(())
}

pub(super) fn remove_all(tree: &Tree<'_>) -> Result<(), SqliteError> {
    tree.execute("DELETE FROM note", [])?;
    Ok(())
}

impl Notes for SqliteDatabase {
    fn append(&self, note: &Note) -> Result<(), StoreError> {
        self.change(&Context::new(), "writing the history", |tree| add(&tree, note))
    }

    fn list(&self, context: &Context, after: i64) -> Result<Vec<Listed>, StoreError> {
        self.look(context, "reading the history", |tree| {
            let head = i64::try_from(HEAD).unwrap_or(i64::MAX);
            let mut list = tree.prepare_cached(
                "SELECT number, substr(bytes, 1, ?2), length(bytes) FROM note WHERE number > ?1 \
                 ORDER BY number",
            )?;
            let rows = list.query_map((after, head), |row| {
                let len: i64 = row.get(2)?;
                let len = u64::try_from(len).unwrap_or(0);
                Ok(Listed { number: row.get(0)?, head: row.get(1)?, len })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    fn read(
        &self,
        context: &Context,
        number: i64,
        from: u64,
        count: u64,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        use rusqlite::OptionalExtension as _;

        self.look(context, "reading the history", |tree| {
            let (from, count) =
                (i64::try_from(from).unwrap_or(i64::MAX), i64::try_from(count).unwrap_or(i64::MAX));
            let mut read = tree
                .prepare_cached("SELECT substr(bytes, ?2 + 1, ?3) FROM note WHERE number = ?1")?;
            Ok(read.query_row((number, from, count), |row| row.get(0)).optional()?)
        })
    }

    fn rewrite(
        &self,
        last: i64,
        replaced: &[(i64, Vec<u8>)],
        removed: &[i64],
        note: Option<&Note>,
    ) -> Result<bool, StoreError> {
        self.change_if(&Context::new(), "rewriting the history", |tree| {
            let mut later = tree.prepare_cached("SELECT 1 FROM note WHERE number > ?1 LIMIT 1")?;
            if later.exists([last])? {
                return Ok(false);
            }
            let mut replace =
                tree.prepare_cached("UPDATE note SET bytes = ?2 WHERE number = ?1")?;
            for (number, bytes) in replaced {
                replace.execute((number, bytes))?;
            }
            let mut remove = tree.prepare_cached("DELETE FROM note WHERE number = ?1")?;
            for number in removed {
                remove.execute([number])?;
            }
            note.map_or(Ok(()), |note| add(&tree, note)).map(|()| true)
        })
    }

    fn scrub(&self) -> Result<(), StoreError> {
        self.rewrite_file()
    }
}
