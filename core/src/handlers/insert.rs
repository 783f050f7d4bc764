//! `insert`: inserts whole lines.

use memdir_store::Error;
use memdir_store::path::MemoryPath;

use super::edit::{EditOperation, edit};
use crate::policy::stale_guard::ViewLog;
use crate::reply;
use crate::text::insert_lines;
use crate::unit_of_work::UnitOfWork;

pub(super) fn insert(
    work: &UnitOfWork<'_>,
    path: &MemoryPath,
    insert_line: i64,
    insert_text: &str,
) -> Result<String, Error> {
    let insert = EditOperation {
        missing: reply::missing,
        check_view: ViewLog::check_insert,
        change: &|content| {
            insert_lines(content, insert_line, insert_text)
                .map_err(|lines| reply::invalid_insert_line(insert_line, lines))
        },
        answer: &|_, _| Ok(reply::inserted(path)),
        seen_by_model: true,
    };
    edit(work, path, &insert)
}
