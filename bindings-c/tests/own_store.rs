//! Stores of the application through the C interface: they answer on the thread of the call or later, with
//! right and wrong answers.
#![expect(unsafe_code, reason = "what is tested is called from C")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails where it cannot go on")]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;

use common::{execute, open, operation, taken, with_error};
use memdir_c::*;
use serde_json::{Value, json};

mod common;

/// The stores of this test, by their numbers.
static STORES: LazyLock<Mutex<BTreeMap<u64, OneStore>>> = LazyLock::new(Mutex::default);
static NEXT: AtomicU64 = AtomicU64::new(1);

#[derive(Default)]
struct OneStore {
    /// The content of a file; `None` for a directory.
    nodes: BTreeMap<String, Option<Vec<u8>>>,
    /// Wrong answers, by operation.
    wrong: BTreeMap<String, Value>,
    /// Operations that are never answered. Each request is reported here.
    silent: BTreeMap<String, Sender<u64>>,
    /// Called once during an operation, before it is answered.
    within: BTreeMap<String, Box<dyn FnOnce() + Send>>,
    /// The numbers of the calls that the requests were made for.
    calls: Vec<Value>,
    /// True if another thread answers.
    late: bool,
}

fn stores() -> MutexGuard<'static, BTreeMap<u64, OneStore>> {
    STORES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn new_store(set: impl FnOnce(&mut OneStore)) -> u64 {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut store = OneStore::default();
    store.nodes.insert("/memories".to_owned(), None);
    set(&mut store);
    stores().insert(number, store);
    number
}

static HOST: memdir_host = memdir_host { serve: Some(serve), release: Some(release) };

unsafe extern "C" fn release(store: u64) {
    assert!(stores().remove(&store).is_some(), "{store} is released twice");
}

unsafe extern "C" fn serve(
    store: u64,
    request: u64,
    asked: *const c_char,
    content: *const u8,
    length: usize,
) {
    // SAFETY: the library lends both during this call.
    let (asked, content) = unsafe {
        assert!(!content.is_null());
        let asked = serde_json::from_slice::<Value>(CStr::from_ptr(asked).to_bytes()).unwrap();
        (asked, slice::from_raw_parts(content, length).to_vec())
    };
    let late = stores().get(&store).is_some_and(|store| store.late);
    let work = move || serve_now(store, request, &asked, &content);
    if late {
        thread::spawn(work);
    } else {
        work();
    }
}

fn serve_now(number: u64, request: u64, asked: &Value, content: &[u8]) {
    if asked["operation"] == "make" {
        return answer(request, &json!(new_store(|_| {})), b"");
    }
    let operation = asked["operation"].as_str().unwrap();
    let within = stores().get_mut(&number).and_then(|store| store.within.remove(operation));
    if let Some(within) = within {
        within();
    }
    let mut stores = stores();
    let store = stores.get_mut(&number).unwrap();
    store.calls.push(asked["call"].clone());
    if let Some(silent) = store.silent.get(operation) {
        return silent.send(request).unwrap();
    }
    if let Some(wrong) = store.wrong.get(operation) {
        return answer(request, wrong, b"");
    }
    match store.done(request, asked, content) {
        Ok((result, content)) => answer(request, &result, &content),
        Err(errno) => answer(request, &json!({ "errno": errno }), b""),
    }
}

fn answer(request: u64, result: &Value, content: &[u8]) {
    let result = CString::new(result.to_string()).unwrap();
    // SAFETY: both live until the call has ended.
    unsafe { memdir_answer(request, result.as_ptr(), content.as_ptr(), content.len()) };
}

type Done = Result<(Value, Vec<u8>), &'static str>;

impl OneStore {
    fn done(&mut self, request: u64, asked: &Value, content: &[u8]) -> Done {
        let text = |name: &str| asked[name].as_str().unwrap().to_owned();
        let path = text("path");
        let nothing = Ok((Value::Null, Vec::new()));
        match asked["operation"].as_str().unwrap() {
            "info" => nothing,
            "read" => Ok((Value::Null, self.file(&path)?)),
            "list" => {
                if !matches!(self.nodes.get(&path), Some(None)) {
                    return Err(if self.nodes.contains_key(&path) { "ENOTDIR" } else { "ENOENT" });
                }
                let is_entry = |at: &str| {
                    at.strip_prefix(&format!("{path}/")).is_some_and(|name| !name.contains('/'))
                };
                let entries = self.nodes.iter().filter(|(at, _)| is_entry(at));
                let entries = entries.map(
                    |(at, content)| json!({ "path": at, "size": content.as_ref().map(Vec::len) }),
                );
                Ok((entries.collect(), Vec::new()))
            }
            "write" => {
                match self.nodes.get(&path) {
                    Some(Some(_)) if asked["overwrite"] == true => {}
                    Some(_) => return Err("EEXIST"),
                    None => self.make_parents(&path)?,
                }
                self.nodes.insert(path, Some(content.to_vec()));
                nothing
            }
            "update" => {
                let old = self.file(&path)?;
                let mut length = usize::MAX;
                // SAFETY: all of it lives until the call has ended.
                let new = unsafe { memdir_edit(request, old.as_ptr(), old.len(), &raw mut length) };
                if !new.is_null() {
                    // SAFETY: the library lends these bytes until the request is answered.
                    let new = unsafe { slice::from_raw_parts(new, length) };
                    self.nodes.insert(path, Some(new.to_vec()));
                }
                nothing
            }
            "delete" => {
                self.nodes.get(&path).ok_or("ENOENT")?;
                self.nodes.retain(|at, _| !is_within(at, &path));
                nothing
            }
            "rename" => {
                let to = text("to");
                let is_directory = self.nodes.get(&path).ok_or("ENOENT")?.is_none();
                if self.nodes.contains_key(&to) {
                    return Err("EEXIST");
                }
                if is_directory && is_within(&to, &path) {
                    return Err("EINVAL");
                }
                let below = self.nodes.iter().filter(|(at, _)| is_within(at, &path));
                let moved: Vec<_> = below
                    .map(|(at, content)| (format!("{to}{}", &at[path.len()..]), content.clone()))
                    .collect();
                if moved.iter().any(|(at, _)| at.len() > 4096 || at.matches('/').count() > 65) {
                    return Err("ENAMETOOLONG");
                }
                self.make_parents(&to)?;
                self.nodes.retain(|at, _| !is_within(at, &path));
                self.nodes.extend(moved);
                nothing
            }
            other => panic!("{other}"),
        }
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, &'static str> {
        self.nodes.get(path).ok_or("ENOENT")?.clone().ok_or("EISDIR")
    }

    fn make_parents(&mut self, path: &str) -> Result<(), &'static str> {
        let parents: Vec<_> =
            path.match_indices('/').skip(1).map(|(end, _)| &path[..end]).collect();
        if parents.iter().any(|parent| matches!(self.nodes.get(*parent), Some(Some(_)))) {
            return Err("ENOTDIR");
        }
        for parent in parents {
            self.nodes.entry(parent.to_owned()).or_default();
        }
        Ok(())
    }
}

fn is_within(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn open_place(place: &Value, options: &str, host: *const memdir_host) -> Result<u64, Value> {
    let (place, options) =
        (CString::new(place.to_string()).unwrap(), CString::new(options).unwrap());
    // SAFETY: all of it lives until the call has ended.
    let (memory, error) = with_error(|error| unsafe {
        memdir_open_place(place.as_ptr(), options.as_ptr(), host, error)
    });
    error.map_or(Ok(memory), Err)
}

fn open_own(store: u64) -> u64 {
    open_place(&json!({ "own": store }), "{}", &raw const HOST).unwrap()
}

const CREATE: &str = r#"{"command": "create", "path": "/memories/a", "file_text": "one\n"}"#;
const INSERT: &str =
    r#"{"command": "insert", "path": "/memories/a", "insert_line": 1, "insert_text": "two"}"#;
const VIEW: &str = r#"{"command": "view", "path": "/memories/a"}"#;

#[test]
fn a_store_may_answer_on_the_thread_that_asks_and_later() {
    for late in [false, true] {
        let store = new_store(|store| store.late = late);
        let memory = open_own(store);
        for command in [CREATE, INSERT] {
            let (reply, error) = execute(memory, command);
            assert_eq!((&reply["is_error"], error), (&json!(false), None), "{reply}");
        }
        assert_eq!(stores()[&store].nodes["/memories/a"], Some(b"one\ntwo\n".to_vec()));
        let checked = operation(memory, "check", "{}").unwrap();
        assert_eq!((&checked["files"], &checked["problems"]), (&json!(1), &json!([])));
        assert!(memdir_close(memory));
        assert!(!stores().contains_key(&store));
    }
}

#[test]
fn the_contract_is_checked() {
    // SAFETY: `HOST` lives as long as the program.
    let broken = |host| unsafe {
        let factory = new_store(|_| {});
        with_error(|error| memdir_check_contract(factory, host, error))
    };
    let (rule, error) = broken(&raw const HOST);
    assert_eq!((rule.is_null(), error), (true, None));
    let (_, error) = broken(null());
    assert_eq!(error.unwrap()["message"], "host is NULL");
    let without = memdir_host { serve: None, release: None };
    assert_eq!(broken(&raw const without).1.unwrap()["message"], "serve is NULL");
}

#[test]
fn a_failure_has_the_number_of_its_error() {
    let failed = json!({ "failed": "the disk is gone", "number": 7 });
    let store = new_store(|store| {
        store.wrong.insert("read".to_owned(), failed);
    });
    let memory = open_own(store);
    let (reply, error) = execute(memory, VIEW);
    let error = error.unwrap();
    assert!(!reply["content"].as_str().unwrap().contains("disk"), "{reply}");
    assert_eq!((&error["kind"], &error["own"]), (&json!("store"), &json!(7)));
    assert!(error["message"].as_str().unwrap().contains("the disk is gone"), "{error}");
    memdir_close(memory);
}

#[test]
fn a_wrong_answer_is_a_failure_of_the_store() {
    let list = "list";
    for (operation, wrong, command) in [
        (list, json!("entries"), r#"{"command": "view", "path": "/memories"}"#),
        (list, json!([1]), r#"{"command": "view", "path": "/memories"}"#),
        (list, json!([{ "path": "/etc" }]), r#"{"command": "view", "path": "/memories"}"#),
        (
            list,
            json!([{ "path": "/memories/a", "size": -1 }]),
            r#"{"command": "view", "path": "/memories"}"#,
        ),
        (
            list,
            json!([{ "path": "/memories/a", "size": 1, "modified": 5 }]),
            r#"{"command": "view", "path": "/memories"}"#,
        ),
        ("write", json!({ "errno": "EIO" }), CREATE),
        // Conditions that only memdir's own stores report, or only a rename.
        ("write", json!({ "errno": "EBUSY" }), CREATE),
        ("write", json!({ "errno": "ELOOP" }), CREATE),
        ("write", json!({ "errno": "ENXIO" }), CREATE),
        ("write", json!({ "errno": "EINVAL" }), CREATE),
    ] {
        let store = new_store(|store| {
            store.wrong.insert(operation.to_owned(), wrong.clone());
            if operation == list {
                store.wrong.insert("read".to_owned(), json!({ "errno": "EISDIR" }));
            }
        });
        let memory = open_own(store);
        let (reply, error) = execute(memory, command);
        assert_eq!(reply["is_error"], true, "{wrong}");
        assert_eq!(error.unwrap()["kind"], "store", "{wrong}");
        memdir_close(memory);
    }
}

#[test]
fn a_cancelled_call_does_not_wait_for_a_store() {
    for (operation, command, kind) in [
        ("read", VIEW, "cancelled"),
        ("update", INSERT, "cancelled"),
        ("write", r#"{"command": "create", "path": "/memories/b", "file_text": ""}"#, "store"),
    ] {
        let (told, asked) = channel();
        let store = new_store(|_| {});
        let memory = open_own(store);
        execute(memory, CREATE);
        stores().get_mut(&store).unwrap().silent.insert(operation.to_owned(), told);
        let number = memdir_cancellable(memory);
        let called = thread::spawn(move || execute(number, command));
        let request = asked.recv().unwrap();
        assert!(memdir_cancel(number));
        let (reply, error) = called.join().unwrap();
        let error = error.unwrap();
        assert_eq!(
            (&reply["is_error"], &error["kind"]),
            (&json!(true), &json!(kind)),
            "{operation}"
        );
        assert_eq!(error.get("given_up").is_some(), kind == "store");
        // A later answer is ignored, and changes nothing.
        let mut length = 0;
        // SAFETY: the length lives until the call has ended.
        unsafe {
            assert!(memdir_edit(request, b"one\n".as_ptr(), 4, &raw mut length).is_null());
            assert!(!memdir_answer(request, null(), null(), 0));
            assert!(!memdir_answer(request, null(), null(), 0));
        }
        assert!(memdir_close(number) && memdir_close(memory));
    }
}

/// An edit of the one memory, in which its store views the other one, whose store does not answer. `then` gets the numbers of both calls
/// and the request. Returns the replies of both calls.
fn view_within_an_edit(then: impl FnOnce(u64, u64, u64)) -> [(Value, Option<Value>); 2] {
    let (told, asked) = channel();
    let (store, other) = (new_store(|_| {}), new_store(|_| {}));
    let memories = [open_own(store), open_own(other)];
    for memory in memories {
        execute(memory, CREATE);
    }
    let [outer, inner] = memories.map(|memory| memdir_cancellable(memory));
    let (tell, heard) = channel();
    {
        let mut stores = stores();
        stores.get_mut(&other).unwrap().silent.insert("read".to_owned(), told);
        let store = stores.get_mut(&store).unwrap();
        store.calls.clear();
        let within = Box::new(move || tell.send(execute(inner, VIEW)).unwrap());
        store.within.insert("read".to_owned(), within);
    }
    let called = thread::spawn(move || execute(outer, INSERT));
    then(outer, inner, asked.recv().unwrap());
    let reply = called.join().unwrap();
    let calls = std::mem::take(&mut stores().get_mut(&store).unwrap().calls);
    // After the call within, the thread works for the other one again.
    let requests = if reply.1.is_none() { 2 } else { 1 };
    assert_eq!(calls, vec![json!(outer); requests]);
    for number in memories.into_iter().chain([outer, inner]) {
        assert!(memdir_close(number));
    }
    [reply, heard.recv().unwrap()]
}

#[test]
fn a_call_within_a_store_is_not_cancelled_with_the_call_that_the_store_works_for() {
    let [(reply, error), (inner, inner_error)] = view_within_an_edit(|outer, _, request| {
        assert!(memdir_cancel(outer));
        // SAFETY: the bytes live until the call has ended.
        assert!(unsafe { memdir_answer(request, null(), b"two\n".as_ptr(), 4) });
    });
    assert_eq!((&inner["is_error"], inner_error), (&json!(false), None), "{inner}");
    assert!(inner["content"].as_str().unwrap().contains("two"), "{inner}");
    assert_eq!((&reply["is_error"], &error.unwrap()["kind"]), (&json!(true), &json!("cancelled")));
}

#[test]
fn a_call_within_a_store_is_cancelled_by_its_own_number() {
    let [(reply, error), (inner, inner_error)] = view_within_an_edit(|_, inner, _| {
        assert!(memdir_cancel(inner));
    });
    assert_eq!(
        (&inner["is_error"], &inner_error.unwrap()["kind"]),
        (&json!(true), &json!("cancelled"))
    );
    assert_eq!((&reply["is_error"], error), (&json!(false), None), "{reply}");
}

#[test]
fn what_a_store_answers_before_anything_waits_counts_though_the_call_is_cancelled() {
    let store = new_store(|_| {});
    let memory = open_own(store);
    let number = memdir_cancellable(memory);
    let cancel = Box::new(move || assert!(memdir_cancel(number)));
    stores().get_mut(&store).unwrap().within.insert("write".to_owned(), cancel);
    let (reply, error) = execute(number, CREATE);
    assert_eq!((&reply["is_error"], error), (&json!(false), None), "{reply}");
    assert!(stores()[&store].nodes.contains_key("/memories/a"));
    assert!(memdir_close(number) && memdir_close(memory));
}

#[test]
fn a_number_of_a_number_is_cancelled_with_it_and_not_the_other_way() {
    for is_outer in [true, false] {
        let (told, asked) = channel();
        let store = new_store(|_| {});
        let memory = open_own(store);
        execute(memory, CREATE);
        let outer = memdir_cancellable(memory);
        let inner = memdir_cancellable(outer);
        stores().get_mut(&store).unwrap().silent.insert("read".to_owned(), told);
        let called = thread::spawn(move || execute(inner, VIEW));
        asked.recv().unwrap();
        assert!(memdir_cancel(if is_outer { outer } else { inner }));
        assert_eq!(called.join().unwrap().1.unwrap()["kind"], "cancelled");
        stores().get_mut(&store).unwrap().silent.clear();
        let (reply, error) = execute(outer, VIEW);
        assert_eq!(error.is_some(), is_outer, "{reply}");
        for number in [memory, outer, inner] {
            assert!(memdir_close(number));
        }
    }
}

#[test]
fn a_call_of_a_hook_is_cancelled_by_its_own_number() {
    let memory = open("memory:", "{}").unwrap();
    for is_outer in [true, false] {
        let [outer, inner] = [memory, memory].map(|memory| memdir_cancellable(memory));
        let path = if is_outer { "/memories/a" } else { "/memories/b" };
        let create =
            |path: &str| json!({ "command": "create", "path": path, "file_text": "" }).to_string();
        let input = CString::new(create(path)).unwrap();
        let mut pending = 0;
        // SAFETY: the text lives until both calls have ended.
        let (reply, error) = unsafe {
            taken(memdir_begin(outer, input.as_ptr(), &raw mut pending, null_mut())).unwrap();
            assert!(memdir_cancel(if is_outer { outer } else { inner }));
            let (_, error) = execute(inner, &create(&format!("{path}-of-the-hook")));
            assert_eq!(
                error.map(|error| error["kind"] == "cancelled"),
                (!is_outer).then_some(true)
            );
            let (reply, error) =
                with_error(|error| memdir_finish(pending, null(), null_mut(), error));
            (taken(reply).unwrap(), error)
        };
        assert_eq!(error.map(|error| error["kind"] == "cancelled"), is_outer.then_some(true));
        assert_eq!(reply["is_error"], is_outer, "{reply}");
        assert!(memdir_close(outer) && memdir_close(inner));
    }
    assert!(memdir_close(memory));
}

#[test]
fn null_and_what_is_no_request_do_no_harm() {
    let number = u64::MAX;
    // SAFETY: null is allowed everywhere.
    unsafe {
        assert!(!memdir_answer(number, null(), null(), 0));
        assert!(!memdir_answer(0, c"{".as_ptr(), null(), 5));
        assert!(memdir_edit(number, null(), 0, null_mut()).is_null());
        let (memory, error) = with_error(|error| memdir_open_place(null(), null(), null(), error));
        assert_eq!((memory, &error.unwrap()["message"]), (0, &json!("place is NULL")));
        assert_eq!(taken(memdir_check_contract(0, null(), null_mut())), None);
    }
}

#[test]
fn several_stores_are_one_tree_and_a_wrong_place_is_an_error() {
    let store = new_store(|_| {});
    let host = &raw const HOST;
    let place = json!({ "mounts": [
        { "path": "/memories", "address": "memory:" },
        { "path": "/memories/own", "own": store },
        { "path": "/memories/fixed", "address": "memory:", "read_only": true },
    ] });
    let memory = open_place(&place, "{}", host).unwrap();
    let write =
        |path: &str| operation(memory, "write", &json!({ "path": path, "text": "" }).to_string());
    write("/memories/a").unwrap();
    write("/memories/own/b").unwrap();
    assert_eq!(write("/memories/fixed/c").unwrap_err()["reply_kind"], "read_only");
    assert!(stores()[&store].nodes.contains_key("/memories/b"));
    memdir_close(memory);
    let fixed =
        open_place(&json!({ "address": "memory:", "read_only": true }), "{}", null()).unwrap();
    assert_eq!(
        operation(fixed, "write", r#"{"path": "/memories/a", "text": ""}"#).unwrap_err()["kind"],
        "refused"
    );
    memdir_close(fixed);
    for (place, kind) in [
        (json!(5), "usage"),
        (json!({}), "usage"),
        (json!({ "own": "5" }), "usage"),
        (json!({ "own": 5, "address": "memory:" }), "usage"),
        (json!({ "address": "memory:", "path": "/memories" }), "usage"),
        (json!({ "address": "memory:", "read_only": 1 }), "usage"),
        (json!({ "address": "redis://" }), "config"),
        (json!({ "mounts": {} }), "usage"),
        (json!({ "mounts": [] }), "config"),
        (json!({ "mounts": [{ "address": "memory:" }] }), "usage"),
        (json!({ "mounts": [{ "path": "/memories/a", "address": "memory:" }] }), "config"),
        (json!({ "own": 5 }), "usage"),
    ] {
        assert_eq!(open_place(&place, "{}", null()).unwrap_err()["kind"], kind, "{place}");
    }
}

#[test]
fn a_copy_takes_the_history_along() {
    let with_history = r#"{"history": true}"#;
    let memory = || open("memory:", with_history).unwrap();
    let (from, to) = (memory(), memory());
    execute(from, CREATE);
    execute(from, INSERT);
    let copy = |arguments: Value| operation(from, "copy", &arguments.to_string());
    assert_eq!(copy(json!({ "to": to })).unwrap()["changes"], 2);
    let versions = |memory| operation(memory, "history", "{}").unwrap();
    assert_eq!(versions(to), versions(from));
    execute(to, INSERT);
    execute(from, INSERT);
    let error = copy(json!({ "to": to, "overwrite": true })).unwrap_err();
    assert_eq!((&error["kind"], &error["paths"]), (&json!("copy"), &json!([])));
    let alone = json!({ "to": to, "overwrite": true, "without_history": true });
    assert_eq!(copy(alone).unwrap()["changes"], Value::Null);
    memdir_close(from);
    memdir_close(to);
}

#[test]
fn a_memory_is_copied_into_another_one() {
    let (from, to) = (open_own(new_store(|_| {})), open("memory:", "{}").unwrap());
    execute(from, CREATE);
    let copy = |arguments: Value| operation(from, "copy", &arguments.to_string());
    assert_eq!(copy(json!({ "to": to })).unwrap()["files"], 1);
    assert_eq!(copy(json!({ "to": to })).unwrap()["equal"], 1);
    execute(to, INSERT);
    let error = copy(json!({ "to": to })).unwrap_err();
    assert_eq!((&error["kind"], &error["paths"]), (&json!("copy"), &json!(["/memories/a"])));
    assert_eq!(copy(json!({ "to": to, "overwrite": true })).unwrap()["files"], 1);
    assert_eq!(copy(json!({ "to": from })).unwrap_err()["kind"], "copy");
    for (wrong, kind) in
        [(json!({}), "config"), (json!({ "to": "a" }), "config"), (json!({ "to": 0 }), "usage")]
    {
        assert_eq!(copy(wrong.clone()).unwrap_err()["kind"], kind, "{wrong}");
    }
    let cancelled = memdir_cancellable(from);
    memdir_cancel(cancelled);
    let fresh = open("memory:", "{}").unwrap();
    let error = operation(cancelled, "copy", &json!({ "to": fresh }).to_string()).unwrap_err();
    assert!(["cancelled", "copy"].contains(&error["kind"].as_str().unwrap()), "{error}");
    for memory in [cancelled, fresh, to, from] {
        memdir_close(memory);
    }
}

#[test]
fn stores_of_the_application_are_synced() {
    for late in [false, true] {
        let [one, other] = [(); 2].map(|()| new_store(|store| store.late = late));
        let (a, b) = (open_own(one), open_own(other));
        let number = memdir_cancellable(a);
        let sync = |options: Value| operation(number, "sync", &options.to_string());
        execute(a, CREATE);
        let synced = sync(json!({ "to": b })).unwrap();
        assert_eq!(synced["changes"][0]["action"], "created", "{synced}");
        execute(a, INSERT);
        execute(b, r#"{"command": "create", "path": "/memories/b", "file_text": "b\n"}"#);
        for store in [one, other] {
            stores().get_mut(&store).unwrap().calls.clear();
        }
        let synced = sync(json!({ "to": b })).unwrap();
        assert_eq!(synced["changes"].as_array().unwrap().len(), 2, "{synced}");
        for store in [one, other] {
            let stores = stores();
            assert_eq!(stores[&store].nodes["/memories/a"], Some(b"one\ntwo\n".to_vec()));
            assert_eq!(stores[&store].nodes["/memories/b"], Some(b"b\n".to_vec()));
            // Each request says for which call it is.
            assert!(stores[&store].calls.iter().all(|call| *call == number));
        }
        let gone = json!({ "failed": "the disk is gone", "number": 7 });
        stores().get_mut(&other).unwrap().wrong.insert("write".to_owned(), gone);
        execute(a, r#"{"command": "create", "path": "/memories/c", "file_text": "c\n"}"#);
        let error = sync(json!({ "to": b })).unwrap_err();
        assert_eq!((&error["kind"], &error["own"]), (&json!("store"), &json!(7)), "{error}");
        for memory in [number, a, b] {
            memdir_close(memory);
        }
    }
}
