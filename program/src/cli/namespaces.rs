//! `memdir namespaces`: lists the memories in a database or bucket.

use serde_json::Value;

use super::arguments::NamespacesArguments;
use super::output::Output;
use super::stores;
use super::style::Style;
use super::{Ended, Failure};
use memdir::MemoryOptions;
use memdir::text::human_size;

pub(super) fn run(wanted: &NamespacesArguments, output: &mut Output) -> Result<Ended, Failure> {
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    for found in argument.namespaces()? {
        let (name, files) = (&found.name, found.files);
        if output.json {
            output.result("namespace", &found, Value::Null)?;
            continue;
        }
        let (bytes, history) = (human_size(found.bytes), human_size(found.history_bytes));
        let figures = format!("{files:>7} {bytes:>7} {history:>7}  ");
        output.pieces(&[(Style::Dim, &figures), (Style::Plain, name)])?;
    }
    Ok(Ended::Well)
}
