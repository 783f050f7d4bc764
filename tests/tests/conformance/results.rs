//! `core/results.json`: the results of methods and the events of hooks, as every language has them.
//!
//! `MEMDIR_GENERATE=1` generates it from the definitions in Rust. `core/generate-results` makes types of it.

use std::collections::BTreeMap;
use std::path::Path;
use std::{env, fs};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::json;

/// Adds the schema of each type, and the path by which bindings name it.
macro_rules! add {
    ($all:expr, $($path:ty),* $(,)?) => {
        $(add::<$path>($all, stringify!($path));)*
    };
}

type Paths = BTreeMap<String, String>;

fn add<T: JsonSchema>((generator, paths): &mut (SchemaGenerator, Paths), path: &str) {
    generator.subschema_for::<T>();
    paths.insert(T::schema_name().into_owned(), path.replace(' ', ""));
}

#[test]
fn the_types_in_other_languages_are_made_from_those_in_rust() {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut all = (generator, Paths::new());
    add!(
        &mut all,
        memdir::Change,
        memdir::ChangeKind,
        memdir::ErrorKind,
        memdir::Event,
        memdir::Expired,
        memdir::GrepMatch,
        memdir::HistoryMatch,
        memdir::Outcome,
        memdir::SearchHit,
        memdir::SearchMatch,
        memdir::SearchPassage,
        memdir::SearchResults,
        memdir::SensitiveMatch,
        memdir::SizedPath,
        memdir::Stats,
        memdir::TimedPath,
        memdir::command::Repair,
        memdir::copy::Copied,
        memdir::copy::Phase,
        memdir::copy::Progress<'static>,
        memdir::history::BlamedLine,
        memdir::history::Conflict,
        memdir::history::Erased,
        memdir::history::HistoryErrorKind,
        memdir::history::HistorySize,
        memdir::history::Operation,
        memdir::history::PastFile,
        memdir::history::RedactedText,
        memdir::history::Restored,
        memdir::history::RestoredFile,
        memdir::history::Version,
        memdir::policy::expiry::Progress,
        memdir::sync::SyncAction,
        memdir::sync::SyncChange,
        memdir::sync::SyncConflict,
        memdir::sync::SyncErrorKind,
        memdir::sync::SyncLeftOut,
        memdir::sync::SyncMerge,
        memdir::sync::SyncRedaction,
        memdir::sync::SyncPhase,
        memdir::sync::SyncProgress<'static>,
        memdir::sync::SyncReason,
        memdir::sync::SyncSide,
        memdir::sync::Synced,
        memdir::store::Entry,
        memdir::store::Namespace,
        memdir::store::Problem,
        memdir::store::ProblemKind,
        memdir_bindings_shared::check::Checked,
    );
    let (mut generator, paths) = all;
    let types = generator.take_definitions(true);
    let table = json!({ "about": "Every result and event, generated from the definitions in Rust: see CONTRIBUTING.md, \"Add a field to a result\".", "paths": paths, "types": types });
    let made = serde_json::to_string_pretty(&table).unwrap() + "\n";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/results.json");
    if env::var_os("MEMDIR_GENERATE").is_some() {
        fs::write(&file, &made).unwrap();
    }
    assert_eq!(
        fs::read_to_string(file).unwrap_or_default(),
        made,
        "`make generate` writes it anew"
    );
}

/// The serialized form of a word equals its form in messages and in the documentation.
macro_rules! same_word {
    ($($enum:path: $($case:ident),*;)*) => {
        $($({
            use $enum as Word;
            assert_eq!(json!(Word::$case), Word::$case.as_str());
        })*)*
    };
}

#[test]
fn a_word_is_the_same_wherever_it_is_shown() {
    for kind in memdir::ErrorKind::ALL {
        assert_eq!(json!(kind), kind.as_str());
    }
    for kind in memdir::history::HistoryErrorKind::ALL {
        assert_eq!(json!(kind), kind.as_str());
    }
    for operation in memdir::history::Operation::ALL {
        assert_eq!(json!(operation), operation.as_str());
    }
    same_word! {
        memdir::ChangeKind: Written, Deleted, Renamed, Cleared;
        memdir::Outcome: Ok, Refused, Denied, Failed, Cancelled;
        memdir::command::Repair: InsertTextFromNewStr, OldPathFromPath, IntegerFromText, IntegerFromFloat,
            ViewRangeFromNull, NewStrFromNull;
        memdir::copy::Phase: Comparing, Copying;
        memdir::store::ProblemKind: Unreadable, WrongSize, Damaged, LeftOver, Link, SpecialFile, BadName, Reserved;
    }
}
