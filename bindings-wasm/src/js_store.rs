//! `JsStore`: a store written in JavaScript, for the core. It must answer synchronously, because a promise cannot be awaited
//! in the middle of a call. `bindings-node/src/js_store.rs` is the same for the native addon, with threads that wait.

use std::time::SystemTime;

use memdir::store::{Edit, Entry, Node, Splice, StoreInfo, listed_time, open_whole};
use memdir::{MemoryPath, OnExisting, Store, StoreError};
use serde_json::{Value as Json, json};

use crate::border::{asked, asked_with_edit, bytes, placed};
use crate::thrown::Thrown;
use crate::times::{from_millis, to_millis};

/// A store written in JavaScript, by its number in JavaScript.
pub(crate) struct JsStore {
    number: u32,
    /// True if the store has the method `open`.
    opens: bool,
    /// True if it keeps access times.
    tracks_access: bool,
}

/// The result of a method.
enum Outcome {
    Nothing,
    Content(Vec<u8>),
    Entries(Vec<Entry>),
    Time(SystemTime),
    Flag(bool),
    /// The store has no such method.
    Absent,
}

impl JsStore {
    /// `methods` are the optional methods that the store has.
    pub(crate) fn new(number: u32, methods: &[&str]) -> Self {
        let tracks_access = methods.contains(&"recordAccess") && methods.contains(&"deleteUnused");
        Self { number, opens: methods.contains(&"open"), tracks_access }
    }

    /// Calls a method, with its arguments beside the path.
    fn ask(
        &self,
        operation: &'static str,
        path: &MemoryPath,
        arguments: Json,
        edit: &mut Edit<'_>,
    ) -> Result<Outcome, StoreError> {
        let mut question = arguments;
        question["store"] = self.number.into();
        question["operation"] = operation.into();
        question["path"] = path.as_str().into();
        let mut edited = |content: &[u8]| edit(content).map(|splice| splice.apply(content));
        outcome(operation, &asked_with_edit(&question, &mut edited))
    }

    fn plain(&self, operation: &'static str, path: &MemoryPath) -> Result<Outcome, StoreError> {
        self.ask(operation, path, json!({}), &mut none)
    }
}

impl Drop for JsStore {
    fn drop(&mut self) {
        asked(&json!({ "forget": self.number }));
    }
}

/// The edit for a method other than an update.
fn none(_: &[u8]) -> Option<Splice> {
    None
}

/// Converts the answer of JavaScript.
fn outcome(operation: &'static str, answer: &Json) -> Result<Outcome, StoreError> {
    if let Some(error) = answer.get("error") {
        let condition = error["code"].as_str().and_then(StoreError::from_errno_name);
        return Err(condition.unwrap_or_else(|| {
            let message = error["message"].as_str().unwrap_or_default().to_owned();
            let asked = memdir_bindings_shared::own_store::asked(operation);
            match error["thrown"].as_u64() {
                Some(number) => StoreError::failed(asked, Thrown::new(message, number)),
                None => StoreError::failed(asked, message),
            }
        }));
    }
    if let Some(place) = answer.get("content") {
        let content = bytes(place);
        return content
            .map(Outcome::Content)
            .map_err(|_| StoreError::failed(operation, "no bytes"));
    }
    if let Some(entries) = answer["entries"].as_array() {
        // An entry that no command could name is left out.
        return Ok(Outcome::Entries(entries.iter().filter_map(entry).collect()));
    }
    if let Some(millis) = answer.get("time") {
        let found = millis.as_f64().and_then(from_millis);
        return found
            .map(Outcome::Time)
            .ok_or_else(|| StoreError::failed(operation, format!("{millis} is no time")));
    }
    Ok(match (answer["flag"].as_bool(), answer["absent"] == true) {
        (Some(flag), _) => Outcome::Flag(flag),
        (None, true) => Outcome::Absent,
        (None, false) => Outcome::Nothing,
    })
}

fn entry(listed: &Json) -> Option<Entry> {
    let path = MemoryPath::parse(listed["path"].as_str()?).ok()?;
    let at = |name: &str| listed[name].as_f64().and_then(from_millis);
    Some(match listed["size"].as_u64() {
        Some(size) => {
            Entry::file(path, size).modified_at(at("modified")).accessed_at(at("accessed"))
        }
        None => Entry::directory(path),
    })
}

impl Store for JsStore {
    fn info(&self) -> StoreInfo {
        StoreInfo { tracks_access: self.tracks_access, ..StoreInfo::default() }
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        match self.plain("read", path)? {
            Outcome::Content(content) => Ok(content),
            other => Err(other.unexpected("read", "a Uint8Array")),
        }
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        match self.plain("list", path)? {
            Outcome::Entries(entries) => Ok(entries),
            other => Err(other.unexpected("list", "an array of entries")),
        }
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        if !self.opens {
            return open_whole(self, path, depth);
        }
        match self.ask("open", path, json!({ "depth": depth }), &mut none)? {
            Outcome::Content(content) => Ok(Node::file(content)),
            Outcome::Entries(entries) => Ok(Node::Directory(entries)),
            other => Err(other.unexpected("open", "a Uint8Array or an array of entries")),
        }
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        let overwrite = existing == OnExisting::Overwrite;
        let arguments = json!({ "content": placed(content.to_vec()), "overwrite": overwrite });
        self.ask("write", path, arguments, &mut none).map(drop)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.ask("update", path, json!({}), edit).map(drop)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.plain("delete", path).map(drop)
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.ask("rename", from, json!({ "destination": to.as_str() }), &mut none).map(drop)
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        match self.plain("modified", path)? {
            Outcome::Time(time) => Ok(Some(time)),
            Outcome::Nothing => Ok(None),
            Outcome::Absent => listed_time(self, path),
            other => Err(other.unexpected("modified", "a number or undefined")),
        }
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        match self.ask("setModified", path, json!({ "time": to_millis(time) }), &mut none)? {
            Outcome::Absent => self.modified(path).map(drop),
            _ => Ok(()),
        }
    }

    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        match self.ask("recordAccess", path, json!({ "time": to_millis(time) }), &mut none)? {
            Outcome::Absent => self.modified(path).map(drop),
            _ => Ok(()),
        }
    }

    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        match self.ask("deleteUnused", path, json!({ "time": to_millis(since) }), &mut none)? {
            Outcome::Flag(deleted) => Ok(deleted),
            Outcome::Absent => Ok(false),
            other => Err(other.unexpected("deleteUnused", "a boolean")),
        }
    }
}

impl Outcome {
    fn unexpected(&self, operation: &'static str, expected: &str) -> StoreError {
        let came = match self {
            Outcome::Nothing => "nothing",
            Outcome::Content(_) => "a Uint8Array",
            Outcome::Entries(_) => "an array",
            Outcome::Time(_) => "a number",
            Outcome::Flag(_) => "a boolean",
            Outcome::Absent => "nothing, as there is no such method,",
        };
        StoreError::failed(operation, format!("it returned {came} and not {expected}"))
    }
}
