//! [`OwnStore`]: a store of the application, for the core. It gets [requests](crate::request) in JSON.

use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use memdir::store::{
    Context, Edit, Entry, InProcess, Mutation, Node, StoreInfo, Swap, contract, listed_time,
    open_whole, update_by_swap, walk_files,
};
use memdir::text::{parse_rfc3339, rfc3339};
use memdir::{Cancellation, MemoryPath, OnExisting, Store, StoreError};
use memdir_bindings_shared::own_store::asked;
use memdir_store::path::is_hidden;
use memdir_store::{clear_each, methods_by_mutate, reads_in_context};
use serde_json::{Value, json};

use crate::host::Host;
use crate::own_error::OwnError;
use crate::request::{Answer, Waiting};

/// A store or factory of the application that answers requests. Dropping it tells the application that it can release
/// it.
struct Asked {
    host: Host,
    number: u64,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.host.release(self.number);
    }
}

impl Asked {
    /// Sends a request, waits for the answer, and reads it.
    fn ask<T>(
        &self,
        cancellation: &Cancellation,
        question: Question<'_>,
        read: impl FnOnce(Answer) -> Result<T, String>,
    ) -> Result<T, StoreError> {
        let Question { operation, path, mut fields, content, swap } = question;
        let waiting = Waiting::begin(operation, cancellation, swap)?;
        fields["operation"] = json!(operation);
        fields["path"] = json!(path.as_str());
        fields["call"] = json!(waiting.call);
        fields["to_the_end"] = json!(!cancellation.is_possible());
        // JSON contains no NUL byte.
        let fields = CString::new(fields.to_string()).unwrap_or_default();
        self.host.serve(self.number, waiting.number, &fields, content);
        waiting.end(|answer| {
            let answer = condition(operation, path, answer)?;
            read(answer).map_err(|wrong| StoreError::failed(asked(operation), wrong))
        })
    }
}

/// A request before it is sent.
struct Question<'q> {
    operation: &'static str,
    path: &'q MemoryPath,
    fields: Value,
    content: &'q [u8],
    swap: Option<Arc<Swap>>,
}

impl<'q> Question<'q> {
    fn new(operation: &'static str, path: &'q MemoryPath, fields: Value) -> Self {
        Self { operation, path, fields, content: b"", swap: None }
    }
}

/// Returns the answer, or the error that it contains: the name of a condition in C's `errno.h`, or a message.
fn condition(operation: &str, path: &MemoryPath, answer: Answer) -> Result<Answer, StoreError> {
    let text = |name: &str| answer.result.get(name).and_then(Value::as_str);
    let message = match text("errno") {
        Some(name) => match StoreError::from_errno_name(name) {
            Some(condition) if is_of_the_tree(&condition, operation) => {
                return Err(condition);
            }
            Some(_) => name,
            None => name,
        },
        None => match text("failed") {
            Some(message) => message,
            None => return Ok(answer),
        },
    };
    let number = answer.result.get("number").and_then(Value::as_u64);
    let error = OwnError { message: message.to_owned(), number };
    Err(StoreError::failed(format!("{} at {path}", asked(operation)), error))
}

/// Returns whether a store of the application can report this condition, as `memdir_answer` lists them. Any other name is about
/// a file or a connection that the store uses, and says nothing about the tree.
fn is_of_the_tree(condition: &StoreError, operation: &str) -> bool {
    match condition {
        StoreError::MountPoint | StoreError::SpecialFile | StoreError::Symlink => false,
        StoreError::IntoItself => operation == "rename",
        _ => true,
    }
}

/// A store of the application.
pub(crate) struct OwnStore {
    asked: Asked,
    info: StoreInfo,
    /// The optional methods that it supports.
    methods: Vec<String>,
}

impl OwnStore {
    /// Makes the store, and sends it the request `info` once.
    pub(crate) fn new(host: Host, number: u64) -> Result<Self, StoreError> {
        let asked = Asked { host, number };
        let root = MemoryPath::root();
        let question = Question::new("info", &root, json!({}));
        let about = asked.ask(&Cancellation::never(), question, |answer| Ok(answer.result))?;
        let flag = |name: &str| about.get(name).and_then(Value::as_bool).unwrap_or_default();
        let info = StoreInfo {
            folds_case: flag("folds_case"),
            tracks_access: flag("tracks_access"),
            ..StoreInfo::default()
        };
        let methods = about.get("methods").and_then(Value::as_array).into_iter().flatten();
        let methods = methods.filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Self { asked, info, methods })
    }

    fn in_call<'s>(&'s self, cancellation: &'s Cancellation) -> InCall<'s> {
        InCall { store: self, cancellation }
    }

    fn has(&self, method: &str) -> bool {
        self.methods.iter().any(|own| own == method)
    }
}

/// The first rule of the contract that a store of `factory` breaks, or `None`.
pub(crate) fn broken_rule(host: Host, factory: u64) -> Result<Option<String>, StoreError> {
    let factory = Asked { host, number: factory };
    let (failed, root) = (Mutex::new(None), MemoryPath::root());
    let make = || {
        let question = Question::new("make", &root, json!({}));
        let number = factory.ask(&Cancellation::never(), question, |answer| {
            answer.result.as_u64().ok_or_else(|| wrong(&answer, "the number of a store"))
        })?;
        OwnStore::new(host, number)
    };
    let checked = contract::check_contract(&|| match make() {
        Ok(store) => Arc::new(store) as Arc<dyn Store>,
        Err(error) => {
            // The check cannot stop here. Its later results are ignored.
            failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            Arc::new(InProcess::new())
        }
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(checked.err().map(|violation| violation.to_string())),
    }
}

/// The store in the context of one call.
struct InCall<'s> {
    store: &'s OwnStore,
    cancellation: &'s Cancellation,
}

impl InCall<'_> {
    fn ask<T>(
        &self,
        operation: &'static str,
        path: &MemoryPath,
        fields: Value,
        read: impl FnOnce(Answer) -> Result<T, String>,
    ) -> Result<T, StoreError> {
        self.store.asked.ask(self.cancellation, Question::new(operation, path, fields), read)
    }

    fn open_node(&self, path: &MemoryPath, depth: usize) -> Result<Node<'static>, StoreError> {
        if !self.store.has("open") {
            return open_whole(self, path, depth);
        }
        // Every language can represent this number, and no path has as many levels.
        let depth = i32::try_from(depth).unwrap_or(i32::MAX);
        self.ask("open", path, json!({ "depth": depth }), |answer| {
            if answer.result.is_null() {
                return Ok(Node::file(answer.content));
            }
            entries(path, &answer, true).map(Node::Directory)
        })
    }
}

/// Each method ends when the call is cancelled. The defaults of [`Store`] use these methods for the rest.
impl Store for InCall<'_> {
    fn info(&self) -> StoreInfo {
        self.store.info()
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.ask("read", path, json!({}), |answer| Ok(answer.content))
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.ask("list", path, json!({}), |answer| entries(path, &answer, false))
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        self.open_node(path, depth)
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        let fields = json!({ "overwrite": existing == OnExisting::Overwrite });
        let question = Question { content, ..Question::new("write", path, fields) };
        self.store.asked.ask(self.cancellation, question, |_| Ok(()))
    }

    /// The store gets an edit that may outlive this call, but the borrowed `edit` must not.
    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        let context = Context::new().cancelled_by(self.cancellation);
        update_by_swap(self, &context, path, edit, |swap| {
            let swap = Some(swap);
            let question = Question { swap, ..Question::new("update", path, json!({})) };
            self.store.asked.ask(self.cancellation, question, |_| Ok(()))
        })
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.ask("delete", path, json!({}), |_| Ok(()))
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.ask("rename", from, json!({ "to": to.as_str() }), |_| Ok(()))
    }

    fn clear(&self) -> Result<(), StoreError> {
        if !self.store.has("clear") {
            return clear_each(self, &Context::new(), |_| true);
        }
        self.ask("clear", &MemoryPath::root(), json!({}), |_| Ok(()))
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        if !self.store.has("modified") {
            return listed_time(self, path);
        }
        self.ask("modified", path, json!({}), |answer| {
            time(&answer.result).ok_or_else(|| wrong(&answer, "a time or null"))
        })
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        if !self.store.has("set_modified") {
            return self.modified(path).map(drop);
        }
        self.ask("set_modified", path, json!({ "time": rfc3339(time) }), |_| Ok(()))
    }

    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        if !self.store.info.tracks_access {
            return self.modified(path).map(drop);
        }
        self.ask("record_access", path, json!({ "time": rfc3339(time) }), |_| Ok(()))
    }

    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        if !self.store.info.tracks_access {
            return Ok(false);
        }
        self.ask("delete_unused", path, json!({ "since": rfc3339(since) }), |answer| {
            answer.result.as_bool().ok_or_else(|| wrong(&answer, "true or false"))
        })
    }
}

impl Store for OwnStore {
    fn info(&self) -> StoreInfo {
        self.info.clone()
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.in_call(context.cancellation()).read(path)
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.in_call(context.cancellation()).list(path)
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        self.in_call(context.cancellation()).open_node(path, depth)
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        walk_files(&self.in_call(context.cancellation()), visit)
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        mutation.apply_to(&self.in_call(context.cancellation()))
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.in_call(&Cancellation::never()).modified(path)
    }

    reads_in_context!();
    methods_by_mutate!();
}

/// The listed entries, several levels deep without hidden ones. A name that no path can contain is left out. A path
/// that is not below the directory is a mistake of the store.
fn entries(directory: &MemoryPath, answer: &Answer, deep: bool) -> Result<Vec<Entry>, String> {
    let listed = answer.result.as_array().ok_or_else(|| wrong(answer, "an array of entries"))?;
    let mut entries = Vec::with_capacity(listed.len());
    for given in listed {
        let text = given.get("path").and_then(Value::as_str);
        let text = text.ok_or_else(|| format!("{given} is no entry: it has no path"))?;
        let is_below = text.strip_prefix(directory.as_str()).is_some_and(|rest| {
            rest.strip_prefix('/').is_some_and(|name| deep || !name.contains('/'))
        });
        if !is_below {
            return Err(format!("{text:?} is not an entry of {directory}"));
        }
        let Ok(path) = MemoryPath::parse(text) else { continue };
        if deep && text[directory.as_str().len()..].split('/').any(is_hidden) {
            continue;
        }
        let absent = Value::Null;
        let field = |name: &str| given.get(name).unwrap_or(&absent);
        let wrong = |name: &str| format!("the {name} of {text:?} cannot be {}", field(name));
        entries.push(match field("size") {
            Value::Null => Entry::directory(path),
            size => Entry::file(path, size.as_u64().ok_or_else(|| wrong("size"))?)
                .modified_at(time(field("modified")).ok_or_else(|| wrong("modified"))?)
                .accessed_at(time(field("accessed")).ok_or_else(|| wrong("accessed"))?),
        });
    }
    Ok(entries)
}

/// A time, which may be unknown. `None` if the value is not a time.
fn time(given: &Value) -> Option<Option<SystemTime>> {
    match given {
        Value::Null => Some(None),
        Value::String(text) => parse_rfc3339(text).map(Some),
        _ => None,
    }
}

fn wrong(answer: &Answer, expected: &str) -> String {
    format!("it answered {} and not {expected}", answer.result)
}
