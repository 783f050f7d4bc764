//! [`perform`]: an operation of a memory, by its name, for languages that pass names and arguments, such as C and WebAssembly.

use memdir::history::{HistoryError, Restored};
use memdir::{Error, GrepQuery, Memory, Project};

use crate::arguments::Arguments;
use crate::history::{Query, Undo, export, id, undo_options};
use crate::plain::Plain;
use crate::search::in_unit;
use crate::{grep_query, redaction_query};

/// The result of an operation.
#[derive(Debug)]
pub enum Returned {
    /// A result.
    Value(Plain),
    /// A content, which may not be text.
    Content(Vec<u8>),
}

/// Executes the operation `name`. `None` if no operation with this name is the same in all languages.
///
/// # Errors
/// An argument is wrong, or the operation failed.
pub fn perform<E>(memory: &Memory, name: &str, given: &Arguments<'_>) -> Result<Option<Returned>, E>
where
    E: From<Error> + From<HistoryError>,
{
    let names = |names: &[&str]| given.none_but(names);
    let text = |name: &str| given.text(name);
    let flag = |name: &str| given.flag(name);
    Ok(Some(Returned::Value(match name {
        "read" => {
            names(&["path"])?;
            Plain::Text(memory.read(&text("path")?)?)
        }
        "read_shown" => {
            names(&["path"])?;
            Plain::Text(memory.read_shown(&text("path")?)?)
        }
        "write" => {
            names(&["path", "text", "if_unchanged"])?;
            let old = given.optional_text("if_unchanged")?;
            memory.write(&text("path")?, &text("text")?, old.as_deref())?;
            Plain::Nothing
        }
        "list" => {
            names(&["path", "depth"])?;
            let depth = given.optional_count("depth")?;
            Plain::of(&memory.list(&given.text_or("path", "/memories")?, depth)?)
        }
        "exists" => {
            names(&["path"])?;
            Plain::Flag(memory.exists(&text("path")?)?)
        }
        "grep" => {
            let (query, path, limit) = sought(given)?;
            Plain::of(&memory.grep(&query, &path, limit)?)
        }
        "search" => {
            names(&["query", "path", "limit"])?;
            let (path, limit) = (given.text_or("path", "/memories")?, given.count_or("limit", 10)?);
            Plain::of(&in_unit(memory.search(&text("query")?, &path, limit)?, given.text_unit()))
        }
        "find_sensitive" => {
            names(&["path", "limit"])?;
            let path = given.text_or("path", "/memories")?;
            Plain::of(&memory.find_sensitive(&path, given.count_or("limit", 100)?)?)
        }
        "stats" => {
            names(&[])?;
            Plain::of(&memory.stats()?)
        }
        "index" => {
            names(&["max_chars"])?;
            Plain::Text(memory.index(given.count_or("max_chars", 2_000)?)?)
        }
        "bootstrap" => {
            names(&["about", "features", "init"])?;
            let (about, features) = (text("about")?, given.texts("features")?);
            let init = given.text_or("init", "")?;
            let features: Vec<&str> = features.iter().map(String::as_str).collect();
            Plain::of(&memory.bootstrap(&Project {
                about: &about,
                features: &features,
                init: &init,
            })?)
        }
        "forget_views" => {
            names(&[])?;
            memory.forget_views();
            Plain::Nothing
        }
        "erase" => {
            names(&["dry_run"])?;
            Plain::of(&memory.erase(flag("dry_run")?)?)
        }
        "history" => {
            names(&["path", "limit", "before", "actor", "change", "since"])?;
            let query = Query {
                path: given.optional_text("path")?,
                limit: given.optional_count("limit")?,
                before: given.optional_text("before")?,
                actor: given.optional_text("actor")?,
                change: given.optional_text("change")?,
                since: given.since("since")?,
            };
            Plain::of(&memory.history(&query.into_core()?)?)
        }
        "resolve_id" => {
            names(&["part"])?;
            Plain::of(&memory.resolve_id(&text("part")?)?)
        }
        "export_history" => {
            names(&[])?;
            return Ok(Some(Returned::Content(export(memory)?)));
        }
        "grep_history" => {
            let (query, path, limit) = sought(given)?;
            Plain::of(&memory.grep_history(&query, &path, limit)?)
        }
        "files_at" => {
            names(&["at"])?;
            Plain::of(&memory.files_at(given.at("at")?)?)
        }
        "read_at" => {
            names(&["path", "at"])?;
            match memory.read_at(&text("path")?, given.at("at")?)? {
                Some(content) => return Ok(Some(Returned::Content(content))),
                None => Plain::Nothing,
            }
        }
        "blame" => {
            names(&["path"])?;
            Plain::of(&memory.blame(&text("path")?)?)
        }
        "read_version" => {
            names(&["id"])?;
            let content = memory.read_version(id(&text("id")?)?)?;
            return Ok(Some(Returned::Content(content)));
        }
        "diff" => {
            names(&["id", "other"])?;
            let (one, other) = (text("id")?, given.optional_text("other")?);
            Plain::Text(memory.diff(id(&one)?, other.as_deref().map(id).transpose()?)?)
        }
        "restore" => {
            names(&["id", "overwrite"])?;
            let (one, overwrite) = (text("id")?, flag("overwrite")?);
            Plain::of(&memory.restore(id(&one)?, overwrite)?)
        }
        "undo" => {
            names(&["change", "since", "actor", "dry_run", "skip_conflicts", "merge"])?;
            Plain::of(&undo::<E>(memory, given)?)
        }
        "restore_all" => {
            names(&["at", "dry_run"])?;
            Plain::of(&memory.restore_all(given.at("at")?, flag("dry_run")?)?)
        }
        "redact" => {
            names(&["id", "reason"])?;
            let (one, reason) = (text("id")?, text("reason")?);
            Plain::of(&memory.redact(id(&one)?, &reason)?)
        }
        "redact_text" => {
            names(&["query", "reason", "regex", "ignore_case", "dry_run"])?;
            let query = query(given, redaction_query)?;
            let (reason, dry_run) = (text("reason")?, flag("dry_run")?);
            Plain::of(&memory.redact_text(&query, &reason, dry_run)?)
        }
        "trim_history" => {
            names(&[])?;
            Plain::of(&memory.trim_history()?)
        }
        _ => return Ok(None),
    })))
}

fn query(
    given: &Arguments<'_>,
    of: fn(&str, bool, bool) -> Result<GrepQuery, Error>,
) -> Result<GrepQuery, Error> {
    of(&given.text("query")?, given.flag("regex")?, given.flag("ignore_case")?)
}

/// The query, the path to search, and the most matches.
fn sought(given: &Arguments<'_>) -> Result<(GrepQuery, String, usize), Error> {
    given.none_but(&["query", "regex", "ignore_case", "path", "limit"])?;
    let query = query(given, grep_query)?;
    Ok((query, given.text_or("path", "/memories")?, given.count_or("limit", 100)?))
}

fn undo<E>(memory: &Memory, given: &Arguments<'_>) -> Result<Restored, E>
where
    E: From<Error> + From<HistoryError>,
{
    let (change, since) = (given.optional_text("change")?, given.since("since")?);
    let actor = given.optional_text("actor")?;
    let flag = |name| given.flag(name);
    let how = undo_options(flag("dry_run")?, flag("skip_conflicts")?, flag("merge")?);
    let undo = Undo::of(change, since, actor).map_err(Error::from)?;
    Ok(undo.apply(memory, how)?)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use memdir::MemoryOptions;
    use memdir::value::{Fields, Value};

    use super::*;
    use crate::arguments::Times;

    struct Given(Vec<(&'static str, Value<'static>)>);

    impl Fields for Given {
        fn get<'a>(&'a self, name: &str) -> Option<Value<'a>> {
            let found = self.0.iter().find(|(given, _)| *given == name);
            found.map(|(_, value)| value.clone())
        }
    }

    #[derive(Debug)]
    struct Failed(String);

    impl From<Error> for Failed {
        fn from(error: Error) -> Self {
            Self(error.to_string())
        }
    }

    impl From<HistoryError> for Failed {
        fn from(error: HistoryError) -> Self {
            Self(error.to_string())
        }
    }

    /// A time is a number of seconds.
    fn seconds(given: &Value<'_>) -> Result<SystemTime, &'static str> {
        let seconds =
            if let Value::Integer(seconds) = given { u64::try_from(*seconds) } else { Ok(0) };
        Ok(UNIX_EPOCH + Duration::from_secs(seconds.map_err(|_| " must be a second")?))
    }

    fn ask(
        memory: &Memory,
        name: &str,
        given: &[(&'static str, Value<'static>)],
    ) -> Result<Option<Returned>, String> {
        let given = Given(given.to_vec());
        let names = given.0.iter().map(|(name, _)| *name).collect();
        let times = Times { read: seconds, rest: Duration::from_millis(999) };
        let given = Arguments::new(&given, names, times);
        perform::<Failed>(memory, name, &given).map_err(|Failed(sentence)| sentence)
    }

    fn text(text: &'static str) -> Value<'static> {
        Value::Text(text.into())
    }

    fn memory() -> Memory {
        let mut options = MemoryOptions::default();
        options.history = true;
        Memory::open("memory:", options).unwrap()
    }

    #[test]
    fn an_operation_is_done_by_its_name() {
        let memory = memory();
        let path = ("path", text("/memories/a"));
        let write = ask(&memory, "write", &[path.clone(), ("text", text("tea\n"))]).unwrap();
        assert!(matches!(write, Some(Returned::Value(Plain::Nothing))));
        let read = ask(&memory, "read", std::slice::from_ref(&path)).unwrap();
        assert!(matches!(read, Some(Returned::Value(Plain::Text(text))) if text == "tea\n"));
        let Some(Returned::Value(Plain::List(found))) =
            ask(&memory, "grep", &[("query", text("TEA")), ("ignore_case", Value::Bool(true))])
                .unwrap()
        else {
            panic!()
        };
        assert_eq!(found.len(), 1);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let at = |seconds| ("at", Value::Integer(i64::try_from(seconds).unwrap()));
        let then = ask(&memory, "read_at", &[path.clone(), at(now + 1)]).unwrap();
        assert!(matches!(then, Some(Returned::Content(content)) if content == b"tea\n"));
        let before = ask(&memory, "read_at", &[path, at(now - 60)]).unwrap();
        assert!(matches!(before, Some(Returned::Value(Plain::Nothing))));
        assert!(ask(&memory, "clear", &[]).unwrap().is_none());
    }

    #[test]
    fn an_argument_that_is_wrong_is_named() {
        let path = ("path", text("/memories/a"));
        for (name, given, sentence) in [
            ("read", vec![], "path must be a string, got null"),
            ("read", vec![("path", Value::Integer(5))], "path must be a string, got 5"),
            (
                "grep",
                vec![("query", text("a")), ("limit", Value::Integer(-1))],
                "limit must be a whole number from 0 on, got -1",
            ),
            (
                "grep",
                vec![("query", text("a")), ("limit", Value::Null)],
                "limit must be a whole number from 0 on, got null",
            ),
            (
                "list",
                vec![("depth", Value::Number(0.5))],
                "depth must be a whole number from 0 on, or null, got 0.5",
            ),
            ("erase", vec![("dry_run", text("no"))], "dry_run must be true or false, got \"no\""),
            (
                "bootstrap",
                vec![("about", text("a")), ("features", Value::List(vec![Value::Null]))],
                "features[0] must be a string, got null",
            ),
            ("files_at", vec![("at", Value::Integer(-1))], "at must be a second, got -1"),
            ("undo", vec![], "change or since must be given"),
        ] {
            assert_eq!(ask(&memory(), name, &given).unwrap_err(), sentence);
        }
        let unknown = ask(&memory(), "read", &[path, ("paht", Value::Null)]).unwrap_err();
        assert!(unknown.contains("paht"), "{unknown}");
    }
}
