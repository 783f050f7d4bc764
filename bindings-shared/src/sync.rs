//! [`sync_options`]: the options of a sync, from plain arguments.

use memdir::policy::PathPattern;
use memdir::value::Value;
use memdir::{Error, SyncOptions};

use crate::arguments::{Arguments, wrong};

/// The names of the arguments of a sync that are options.
pub const SYNC_OPTIONS: [&str; 8] = [
    "on_conflict",
    "one_way",
    "dry_run",
    "delete",
    "redactions",
    "exclude",
    "max_file_bytes",
    "names",
];

/// The options of a sync. Check the names of all arguments before.
///
/// # Errors
/// An argument is wrong.
pub fn sync_options(given: &Arguments<'_>) -> Result<SyncOptions, Error> {
    let mut options = SyncOptions::default();
    options.on_conflict = given.word_or("on_conflict", options.on_conflict)?;
    options.one_way = given.flag("one_way")?;
    options.dry_run = given.flag("dry_run")?;
    options.delete = given.flag("delete")?;
    options.redactions = given.flag("redactions")?;
    if given.get("exclude").is_some() {
        options.exclude = exclude(&given.texts("exclude")?)?;
    }
    options.max_file_bytes = given.optional_count("max_file_bytes")?.map(|bytes| bytes as u64);
    options.names = match given.get("names") {
        None | Some(Value::Null) => options.names,
        Some(other) => {
            let names = given.texts("names")?;
            let names: [String; 2] =
                names.try_into().map_err(|_| wrong("names", " must be two names", other))?;
            names.map(Some)
        }
    };
    Ok(options)
}

/// The patterns of the paths that a sync leaves out.
///
/// # Errors
/// A pattern is wrong.
pub fn exclude(patterns: &[String]) -> Result<Vec<PathPattern>, Error> {
    PathPattern::all("exclude", patterns)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use memdir::OnConflict;
    use serde_json::json;

    use super::*;
    use crate::arguments::Times;

    fn options(given: serde_json::Value) -> Result<SyncOptions, String> {
        let serde_json::Value::Object(fields) = given else { panic!("{given}") };
        let times = Times { read: |_| Err(""), rest: Duration::ZERO };
        sync_options(&Arguments::new(&fields, vec![], times)).map_err(|error| error.to_string())
    }

    #[test]
    fn every_option_of_a_sync_has_an_argument() {
        let given = json!({
            "on_conflict": "b", "one_way": true, "dry_run": true, "delete": true, "redactions": true,
            "exclude": ["/memories/a"], "max_file_bytes": 5, "names": ["laptop", "server"],
        });
        let made = options(given).unwrap();
        assert!(matches!(made.on_conflict, OnConflict::B));
        assert!(made.one_way && made.dry_run && made.delete && made.redactions);
        assert_eq!(
            made.exclude.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["/memories/a"]
        );
        assert_eq!(made.max_file_bytes, Some(5));
        assert_eq!(made.names, ["laptop", "server"].map(|name| Some(name.to_owned())));
        assert_eq!(options(json!({})).unwrap().names, [None, None]);
    }

    #[test]
    fn an_option_that_is_wrong_is_named() {
        for (given, sentence) in [
            (json!({"on_conflict": "c"}), "on_conflict must be"),
            (json!({"exclude": ["notes"]}), "exclude: the pattern \"notes\" does not"),
            (json!({"names": ["one"]}), "names must be two names"),
            (json!({"max_file_bytes": -1}), "max_file_bytes must be"),
        ] {
            let error = options(given).unwrap_err();
            assert!(error.contains(sentence), "{error}");
        }
    }
}
