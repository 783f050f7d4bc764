//! Writes many files in few transactions, each of two round trips, and reads many files in one round trip. Deletes many unused files in
//! two round trips.
//!
//! The first round trip takes the namespace's lock and looks at all names of the paths, each directory once. It also draws an id for
//! each name that does not exist. So the second one adds all rows with one statement, whose arrays have a value for each row. `COPY`
//! would be an alternative, but the server refuses it where row-level security applies.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::SystemTime;

use memdir_store::access::Times;
use memdir_store::batch::write_each;
use memdir_store::path::MemoryPath;
use memdir_store::settings::OnExisting;
use memdir_store::total::Total;
use memdir_store::{BatchError, Context, FileToDelete, FileToWrite, Store, StoreError};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::PostgresDatabase;
use super::error::PostgresError;
use super::places::{FILES, Names, Place, PlaceState};
use super::session::{ChangeTransaction, Parameter, Seen, Wanted};
use super::statements::{Statement, storable};
use super::total::Growth;
use super::tree::missing;

/// The limit of a transaction, in bytes. Memory use in the process and on the server is a small multiple of it. A larger file
/// is written alone.
const MAX_BYTES: usize = 16 << 20;

/// The bytes that each name of a path counts, because it may need a row.
const BYTES_OF_A_NAME: usize = 256;

/// Writes rows with the ids `$2`, the parents `$3`, the names `$4`, the contents `$5`, and the times `$6` and `$7`. A row that
/// exists gets the new content.
static WRITE: Statement = Statement::new(
    "
    INSERT INTO memdir.node AS node (id, namespace, parent, name, content, modified, accessed)
    SELECT id, $1, parent, name, content,
        CASE WHEN content IS NOT NULL THEN coalesce(modified, clock_timestamp()) END, accessed
    FROM (
        SELECT unnest($2::bigint[]) AS id, unnest($3::bigint[]) AS parent,
            unnest($4::text[]) AS name, unnest($5::bytea[]) AS content,
            unnest($6::timestamptz[]) AS modified, unnest($7::timestamptz[]) AS accessed
    ) AS given
    ON CONFLICT (id) DO UPDATE SET content = excluded.content, modified = excluded.modified,
        accessed = coalesce(excluded.accessed, node.accessed)
        WHERE node.namespace = $1 AND node.content IS NOT NULL",
    &[
        Type::TEXT,
        Type::INT8_ARRAY,
        Type::INT8_ARRAY,
        Type::TEXT_ARRAY,
        Type::BYTEA_ARRAY,
        Type::TIMESTAMPTZ_ARRAY,
        Type::TIMESTAMPTZ_ARRAY,
    ],
);

/// Removes the files `$2`.
static REMOVE_FILES: Statement = Statement::new(
    "DELETE FROM memdir.node WHERE namespace = $1 AND id = ANY($2) AND content IS NOT NULL",
    &[Type::TEXT, Type::INT8_ARRAY],
);

/// The rows to write, and the state of the tree with them.
struct Plan<'p> {
    names: &'p Names,
    /// The root, and then the place of each name.
    places: Vec<Place>,
    /// The row of a name, if it is written.
    row_of: HashMap<usize, usize>,
    ids: Vec<i64>,
    parents: Vec<i64>,
    row_names: Vec<String>,
    contents: Vec<Option<Vec<u8>>>,
    modified: Vec<Option<SystemTime>>,
    accessed: Vec<Option<SystemTime>>,
    /// The total with these rows, if it is known.
    total: Option<Total>,
    growth: (i64, i64),
}

impl<'p> Plan<'p> {
    fn new(root: i64, names: &'p Names, mut places: Vec<Place>, total: Option<Total>) -> Self {
        places.insert(0, Place { id: root, state: PlaceState::Directory });
        Self {
            names,
            places,
            row_of: HashMap::new(),
            ids: Vec::new(),
            parents: Vec::new(),
            row_names: Vec::new(),
            contents: Vec::new(),
            modified: Vec::new(),
            accessed: Vec::new(),
            total,
            growth: (0, 0),
        }
    }

    /// Adds a file, and its missing parents. If the tree or a limit forbids it, nothing is added.
    fn add(
        &mut self,
        end: usize,
        file: &FileToWrite<'_>,
        check_total: impl Fn(Option<Total>, Option<u64>, usize) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let before = match (self.places[end].state, file.existing) {
            (PlaceState::Missing, _) => None,
            (PlaceState::File { size, .. }, OnExisting::Overwrite) => Some(size),
            _ => return Err(StoreError::AlreadyExists),
        };
        let mut made = Vec::new();
        let mut above = end;
        while above > 0 {
            above = self.names.above(above);
            match self.places[above].state {
                PlaceState::Missing => made.push(above),
                PlaceState::Directory => break,
                PlaceState::File { .. } => return Err(StoreError::NotADirectory),
            }
        }
        check_total(self.total, before, file.content.len())?;
        for directory in made.into_iter().rev() {
            let row = self.row(directory);
            self.places[directory].state = PlaceState::Directory;
            self.contents[row] = None;
        }
        let row = self.row(end);
        self.places[end].state = PlaceState::File { size: file.content.len() as u64, used: None };
        self.contents[row] = Some(file.content.to_vec());
        self.modified[row] = file.times.modified.map(storable);
        self.accessed[row] = file.times.accessed.map(storable).or(self.accessed[row]);
        self.count(before, file.content.len());
        Ok(())
    }

    /// The row of a name, which is added if there is none yet.
    fn row(&mut self, number: usize) -> usize {
        if let Some(row) = self.row_of.get(&number) {
            return *row;
        }
        self.ids.push(self.places[number].id);
        self.parents.push(self.places[self.names.above(number)].id);
        self.row_names.push(self.names.names[number - 1].clone());
        self.contents.push(None);
        self.modified.push(None);
        self.accessed.push(None);
        let row = self.ids.len() - 1;
        self.row_of.insert(number, row);
        row
    }

    fn count(&mut self, before: Option<u64>, after: usize) {
        let Growth::By { bytes, files } = Growth::of_file(before, after) else { return };
        self.growth = (self.growth.0 + bytes, self.growth.1 + files);
        self.total = self.total.map(|Total { bytes: held, files: count }| Total {
            bytes: held.saturating_add_signed(bytes),
            files: count.saturating_add_signed(files),
        });
    }

    fn into_change(self) -> ChangeTransaction {
        let rows = self.ids.len();
        let (bytes, files) = self.growth;
        let parameters: Vec<Parameter> = vec![
            Box::new(self.ids),
            Box::new(self.parents),
            Box::new(self.row_names),
            Box::new(self.contents),
            Box::new(self.modified),
            Box::new(self.accessed),
        ];
        let change = ChangeTransaction::new(&WRITE, parameters).of_rows(rows);
        change.growing(Growth::By { bytes, files })
    }
}

impl PostgresDatabase {
    /// [`Store::write_batch`]. Each transaction writes files up to [`MAX_BYTES`]. If the tree
    /// forbids a file, the files before it are committed.
    pub(super) fn write_together(
        &self,
        context: &Context,
        files: &[FileToWrite<'_>],
    ) -> Result<(), BatchError> {
        let mut before = 0;
        while before < files.len() {
            let part = &files[before..before + fitting(&files[before..])];
            let written = match part {
                [file] if weight(file) > MAX_BYTES => {
                    write_each(context, part, || true, &mut |change| self.mutate(context, change))
                }
                part => self.write_part(context, part),
            };
            written.map_err(|BatchError { written, error }| BatchError {
                written: before + written,
                error,
            })?;
            before += part.len();
        }
        Ok(())
    }

    /// [`Store::delete_unused_batch`], in one transaction.
    pub(super) fn delete_unused_together(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        let names = Arc::new(Names::of(files.iter().map(|file| file.path)));
        let wanted = Wanted::at(&MemoryPath::root());
        let mut deleted = Vec::new();
        let decide = |Seen { places, .. }: Seen| {
            let (mut ids, mut bytes) = (HashSet::new(), 0_i64);
            deleted.clear();
            for end in &names.ends {
                deleted.push(match end.checked_sub(1).and_then(|number| places.get(number)) {
                    Some(Place { id, state: PlaceState::File { size, used: Some(used) } })
                        if *used < since && ids.insert(*id) =>
                    {
                        bytes = bytes.saturating_add_unsigned(*size);
                        true
                    }
                    _ => false,
                });
            }
            let all = files.iter().zip(&deleted);
            let notes =
                all.filter(|(_, deleted)| **deleted).filter_map(|(file, _)| file.note.cloned());
            context.take_notes();
            context.add_notes(notes.collect());
            if ids.is_empty() {
                return Ok(None);
            }
            let count = ids.len();
            let ids: Vec<i64> = ids.into_iter().collect();
            let files = -i64::try_from(count).unwrap_or(i64::MAX);
            let growth = Growth::By { bytes: -bytes, files };
            let change = ChangeTransaction::new(&REMOVE_FILES, vec![Box::new(ids)]);
            Ok(Some(change.of_rows(count).growing(growth)))
        };
        self.change_batch(context, "deleting unused files", wanted, Some(&names), decide)?;
        deleted.into_iter().for_each(visit);
        Ok(())
    }

    /// [`Store::read_batch`], in one round trip.
    pub(super) fn read_together(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        self.each_file(context, "reading files", paths, true, &mut |row| {
            visit(row.try_get(1)?);
            Ok(())
        })
    }

    /// [`Store::read_times`], in one round trip.
    pub(super) fn times_together(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
    ) -> Result<Vec<Times>, StoreError> {
        let mut times = Vec::new();
        self.each_file(context, "reading the times of files", paths, false, &mut |row| {
            times.push(Times { modified: row.try_get(2)?, accessed: row.try_get(3)? });
            Ok(())
        })?;
        Ok(times)
    }

    /// Calls `visit` with the row of each file, until one of the paths is not a file.
    fn each_file(
        &self,
        context: &Context,
        operation: &'static str,
        paths: &[&MemoryPath],
        with_contents: bool,
        visit: &mut dyn FnMut(&Row) -> Result<(), tokio_postgres::Error>,
    ) -> Result<(), StoreError> {
        let Names { names, above, ends } = Names::of(paths.iter().copied());
        let ends: Vec<i64> = ends.into_iter().map(|end| end.try_into().unwrap_or(-1)).collect();
        let parameters: Vec<Parameter> =
            vec![Box::new(above), Box::new(names), Box::new(ends), Box::new(with_contents)];
        let rows = self.ask(context, operation, &FILES, parameters)?;
        for (path, row) in paths.iter().zip(&rows) {
            let failed = |error| PostgresError::from(error).during(operation);
            match row.try_get::<_, Option<bool>>(0).map_err(failed)? {
                Some(false) => visit(row).map_err(failed)?,
                // No process has written to the namespace yet.
                None if path.is_root() => return Err(StoreError::IsADirectory),
                None => return Err(StoreError::NotFound),
                Some(true) => return Err(StoreError::IsADirectory),
            }
        }
        Ok(())
    }

    fn write_part(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        let names = Arc::new(Names::of(files.iter().map(|file| file.path)));
        let total = self.total.are_set();
        let wanted = Wanted { total, ..Wanted::at(&MemoryPath::root()) };
        let (mut written, mut forbidden) = (0, None);
        let decide = |Seen { way, total, places, .. }: Seen| {
            (written, forbidden) = (0, None);
            let (root, _) = missing(&way, &MemoryPath::root())?;
            let mut plan = Plan::new(root, &names, places, total);
            for (file, end) in files.iter().zip(&names.ends) {
                let check = |held, before, after| self.check_total(file.path, held, before, after);
                match plan.add(*end, file, check) {
                    Ok(()) => written += 1,
                    Err(error) if written == 0 => return Err(error),
                    Err(error) => {
                        forbidden = Some(error);
                        break;
                    }
                }
            }
            context.take_notes();
            context
                .add_notes(files[..written].iter().filter_map(|file| file.note.cloned()).collect());
            Ok(Some(plan.into_change()))
        };
        let done = self.change_batch(context, "writing files", wanted, Some(&names), decide);
        match (done, forbidden) {
            (Err(error), _) => Err(BatchError { written: 0, error }),
            (Ok(()), Some(error)) => Err(BatchError { written, error }),
            (Ok(()), None) => Ok(()),
        }
    }
}

fn weight(file: &FileToWrite<'_>) -> usize {
    let names = file.path.names().count();
    file.content.len().saturating_add(file.path.as_str().len() + names * BYTES_OF_A_NAME)
}

/// The number of files that one transaction writes: at least one.
fn fitting(files: &[FileToWrite<'_>]) -> usize {
    let mut bytes = 0_usize;
    let fits = |file: &&FileToWrite<'_>| {
        bytes = bytes.saturating_add(weight(file));
        bytes <= MAX_BYTES
    };
    files.iter().take_while(fits).count().max(1)
}
