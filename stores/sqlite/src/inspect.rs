//! Finds problems of a database that reading its files would not show.

use memdir_store::path::MemoryPath;
use memdir_store::{Problem, ProblemKind};
use rusqlite::ErrorCode;

use super::tree::Tree;
use super::{SqliteError, schema};

/// The limit of reported problems per kind.
const MOST: usize = 100;

/// Queries for rows that no directory contains, or that belong to no file.
const STRAYS: &[(&str, &str)] = &[
    (
        "WITH RECURSIVE found (id) AS (
             SELECT ?1 UNION SELECT node.id FROM node JOIN found ON node.parent = found.id
         )
         SELECT count(*) FROM node WHERE id NOT IN (SELECT id FROM found)",
        "entries that no directory leads to",
    ),
    (
        "SELECT count(*) FROM node JOIN node AS above ON node.parent = above.id
         WHERE above.size IS NOT NULL AND ?1",
        "entries below a file",
    ),
    (
        "SELECT count(*) FROM chunk LEFT JOIN node ON chunk.file = node.id
         WHERE node.size IS NULL AND ?1",
        "pieces of content that belong to no file",
    ),
];

pub(super) fn inspect(tree: &Tree<'_>, report: &mut dyn FnMut(Problem)) -> Result<(), SqliteError> {
    let mut damage = |details: String| {
        report(Problem::new(ProblemKind::Damaged, &MemoryPath::root(), details));
    };
    let inspected = structure(tree, &mut damage);
    let inspected = inspected.and_then(|()| names(tree, schema::ROOT, &MemoryPath::root(), report));
    match inspected {
        // The database is too damaged for an inspection.
        Err(SqliteError::Engine(error))
            if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) =>
        {
            let details = error.to_string();
            report(Problem::new(ProblemKind::Damaged, &MemoryPath::root(), details));
            Ok(())
        }
        result => result,
    }
}

fn structure(tree: &Tree<'_>, damage: &mut dyn FnMut(String)) -> Result<(), SqliteError> {
    let mut check = tree.prepare(&format!("PRAGMA integrity_check({MOST})"))?;
    for said in check.query_map([], |row| row.get::<_, String>(0))? {
        let said = said?;
        // Each line is a finding, after a line with the name of the database.
        let findings = said.lines().filter(|line| *line != "ok" && !line.starts_with("***"));
        findings.for_each(|finding| damage(finding.to_owned()));
    }
    for (query, what) in STRAYS {
        let strays: i64 = tree.query_row(query, [schema::ROOT], |row| row.get(0))?;
        if strays > 0 {
            damage(format!("{strays} {what}"));
        }
    }
    Ok(())
}

/// Reports names that another program created.
fn names(
    tree: &Tree<'_>,
    id: i64,
    path: &MemoryPath,
    report: &mut dyn FnMut(Problem),
) -> Result<(), SqliteError> {
    for (found, name) in tree.children(id)? {
        match path.join(&name) {
            Ok(below) if found.size.is_none() => names(tree, found.id, &below, report)?,
            Ok(_) => {}
            Err(_) => {
                report(Problem::with_entry(ProblemKind::BadName, path, name.as_bytes()));
            }
        }
    }
    Ok(())
}
