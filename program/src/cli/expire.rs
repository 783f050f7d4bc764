//! `memdir expire`: deletes the files that were not used for a time.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::changing::{Changing, Missing, note};
use super::file_arguments::ExpireArguments;
use super::output::{Output, age, count};
use super::style::Style;
use super::{Ended, Failure};
use crate::with::with;
use memdir::store::{Entry, Store};
use memdir::text::human_size;
use memdir::{Error, MemoryOptions};

const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn run(wanted: &ExpireArguments, output: &mut Output) -> Result<Ended, Failure> {
    let never: Result<Vec<_>, Error> = wanted.never.iter().map(|pattern| pattern.parse()).collect();
    let never =
        never.map_err(|error| Failure::Usage(format!("--never: a pattern is wrong: {error}")))?;
    let set = |options: MemoryOptions| {
        with(options, |options| {
            options.record_access = true;
            options.never_expire.extend(never);
        })
    };
    let ExpireArguments { store, flags, by, .. } = wanted;
    let changing = Changing::with(store, Missing::AnError, flags, by, output, set)?;
    let now = SystemTime::now();
    if !is_access_recorded(changing.visible()).map_err(|error| changing.argument.error(&error))? {
        note(
            output,
            "no view of any file is recorded (record_access, expire_after): only changes count as uses, so files that are only read are deleted, too",
        );
    }
    let expired = changing
        .memory
        .expire(wanted.after, wanted.dry_run, &mut |_| ControlFlow::Continue(()))
        .map_err(|error| changing.argument.error(&error))?;
    let bytes = expired.iter().map(|file| file.bytes).sum();
    for file in &expired {
        if output.json {
            output.result("file", file, json!({ "operation": "expired" }))?;
            continue;
        }
        let (size, age) = (human_size(file.bytes), age(now, Some(file.last_used)));
        let sizes = format!("{size:>7} {age:>5}  ");
        output.pieces(&[(Style::Dim, &sizes), (Style::Plain, file.path.as_str())])?;
    }
    let files = expired.len() as u64;
    if output.json {
        let object =
            json!({"type": "summary", "files": files, "bytes": bytes, "dry_run": wanted.dry_run});
        output.object(&object)?;
    } else {
        let verb = if wanted.dry_run { "would be deleted" } else { "deleted" };
        let files = count(files, "file", "files");
        output.line(&format!("{files} ({}) {verb}", human_size(bytes)))?;
    }
    Ok(Ended::Well)
}

/// Whether any program that uses the memory records its views.
fn is_access_recorded(store: &dyn Store) -> Result<bool, Error> {
    let mut files = Vec::new();
    // The kept index of a search and the like are never viewed.
    let mut visit = |file: Entry| files.extend((!file.path.is_reserved()).then_some(file));
    store.files(&mut visit).map_err(Error::Store)?;
    // List all files with their times, whatever the clock says.
    let files = store.unused(files, SystemTime::now() + A_DAY).map_err(Error::Store)?;
    Ok(files.is_empty() || files.iter().any(|file| file.accessed.is_some()))
}
