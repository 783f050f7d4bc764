//! `memdir expire`: deletes the files that nobody has used for a while.

use std::ops::ControlFlow;
use std::time::SystemTime;

use serde_json::json;

use super::changing::{Changing, Missing};
use super::file_arguments::Expire;
use super::output::{Output, age, count, time};
use super::style::Style;
use super::{Ended, Failure};
use crate::error::Error;
use crate::options::MemoryOptions;
use crate::text::human_size;

pub(super) fn run(wanted: &Expire, output: &mut Output) -> Result<Ended, Failure> {
    let never: Result<Vec<_>, Error> = wanted.never.iter().map(|pattern| pattern.parse()).collect();
    let never =
        never.map_err(|error| Failure::Usage(format!("--never: a pattern is wrong: {error}")))?;
    let set = |options: MemoryOptions| {
        let mut options = MemoryOptions { record_access: true, ..options };
        options.never_expire.extend(never);
        options
    };
    let Expire { store, flags, by, .. } = wanted;
    let changing = Changing::with(store, Missing::AnError, flags, by, output, set)?;
    let now = SystemTime::now();
    let expired = changing
        .memory
        .expire(wanted.after, wanted.dry_run, &mut |_| ControlFlow::Continue(()))
        .map_err(|error| changing.place.error(&error))?;
    let bytes = expired.iter().map(|file| file.bytes).sum();
    for file in &expired {
        let path = file.path.as_str();
        if output.json {
            output.object(&json!({
                "type": "file",
                "operation": "expired",
                "path": path,
                "size": file.bytes,
                "used": time(Some(file.last_used)),
            }))?;
            continue;
        }
        let (size, age) = (human_size(file.bytes), age(now, Some(file.last_used)));
        let sizes = format!("{size:>7} {age:>5}  ");
        output.pieces(&[(Style::Dim, &sizes), (Style::Plain, path)])?;
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
