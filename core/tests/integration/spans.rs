//! Spans and events, as seen by a subscriber.
#![cfg(feature = "tracing")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::ControlFlow::Continue;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::common::failing::UNREACHABLE;
use memdir::store::{Mutation, StoreInfo};
use memdir::{
    Command, HookCall, HookDecision, HookError, Memory, MemoryHooks, MemoryOptions, MemoryPath,
    OnExisting, Store, StoreError,
};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// The fields of a span or an event, as text.
#[derive(Default, Clone)]
struct Fields(BTreeMap<String, String>);

impl Fields {
    fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("-", String::as_str)
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name().to_owned(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.to_owned());
    }
}

/// One recorded span or event.
#[derive(Clone)]
struct Seen {
    what: String,
    level: Level,
    target: String,
    /// For an event: the enclosing span.
    within: Option<String>,
    fields: Fields,
}

impl Seen {
    fn of(metadata: &Metadata<'_>, within: Option<String>, fields: Fields) -> Self {
        let what = if metadata.is_span() { metadata.name() } else { "event" };
        let target = metadata.target().to_owned();
        Self { what: what.to_owned(), level: *metadata.level(), target, within, fields }
    }
}

/// Records everything up to a level.
struct Keeps {
    most: Level,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for Keeps {
    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        *metadata.level() <= self.most
    }

    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        context.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).unwrap();
        values.record(span.extensions_mut().get_mut::<Fields>().unwrap());
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let within = context.event_span(event).map(|span| span.name().to_owned());
        self.seen.lock().unwrap().push(Seen::of(event.metadata(), within, fields));
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).unwrap();
        let fields = span.extensions().get::<Fields>().unwrap().clone();
        self.seen.lock().unwrap().push(Seen::of(span.metadata(), None, fields));
    }
}

fn seen(most: Level, work: impl FnOnce()) -> Vec<Seen> {
    let seen = Arc::<Mutex<Vec<Seen>>>::default();
    let keeps = Keeps { most, seen: Arc::clone(&seen) };
    tracing::subscriber::with_default(Registry::default().with(keeps), work);
    let all = seen.lock().unwrap();
    all.iter().filter(|seen| seen.target == "memdir").cloned().collect()
}

/// One test at a time: the interest of subscribers is cached for the whole process, and computed again
/// when one is added or removed.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const SECRET: &str = "what nobody shall read";

#[test]
fn a_command_is_the_execution_of_a_tool() {
    let _alone = alone();
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    let all = seen(Level::DEBUG, || {
        let input = serde_json::json!({
            "command": "insert", "path": "/memories//a", "insert_line": "0", "new_str": SECRET,
        });
        memory.create("/memories/a", SECRET).unwrap();
        assert!(!memory.execute_value(&input).is_error);
        assert!(memory.view("/memories/a", None).unwrap().contains(SECRET));
        assert!(memory.str_replace("/memories/a", "not there", SECRET).is_err());
        memory.rename("/memories/a", "/memories/b").unwrap();
        assert!(memory.execute("{}").is_error);
    });
    let (spans, events): (Vec<Seen>, Vec<Seen>) =
        all.into_iter().partition(|seen| seen.what == "execute_tool memory");
    assert_eq!((spans.len(), events.len()), (6, 6));
    for span in &spans {
        assert_eq!(span.level, Level::INFO);
        for (field, value) in [
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "memory"),
            ("gen_ai.tool.type", "function"),
            ("otel.kind", "internal"),
        ] {
            assert_eq!(span.fields.get(field), value);
        }
    }
    let told = |seen: &Seen| {
        let names = ["command", "path", "new_path", "outcome", "bytes", "lines", "repairs"];
        names.map(|name| seen.fields.get(&format!("memdir.{name}")).to_owned()).join(" ")
    };
    let expected = [
        "create /memories/a - ok 22 1 -",
        "insert /memories/a - ok 22 1 integer_from_text insert_text_from_new_str",
        "view /memories/a - ok 112 3 -",
        "str_replace /memories/a - refused 0 0 -",
        "rename /memories/a /memories/b ok 0 0 -",
        "- - - refused 0 0 -",
    ];
    assert_eq!(spans.iter().map(told).collect::<Vec<_>>(), expected);
    assert_eq!(events.iter().map(told).collect::<Vec<_>>(), expected);
    for event in &events {
        assert_eq!(
            (event.level, event.within.as_deref()),
            (Level::DEBUG, Some("execute_tool memory"))
        );
    }
    let errors: Vec<&str> = spans.iter().map(|span| span.fields.get("error.type")).collect();
    assert_eq!(errors, ["-", "-", "-", "refused", "-", "refused"]);
    assert_eq!(spans[3].fields.get("otel.status_code"), "ERROR");
    for seen in spans.iter().chain(&events) {
        assert!(seen.fields.0.values().all(|value| !value.contains("nobody")));
    }
}

/// An unavailable store, with its own message about writes.
struct Broken;

impl memdir::store::Layer for Broken {
    fn inner(&self) -> &dyn Store {
        &UNREACHABLE
    }

    fn mutate(
        &self,
        context: &memdir::store::Context,
        mutation: Mutation<'_>,
    ) -> Result<bool, StoreError> {
        if matches!(mutation, Mutation::Write { .. }) {
            tracing::warn!(target: "memdir", "of the store's own");
        }
        UNREACHABLE.mutate(context, mutation)
    }

    fn info(&self) -> StoreInfo {
        StoreInfo { tracks_access: true, ..UNREACHABLE.info() }
    }
}

#[test]
fn an_expiry_that_fails_is_a_warning_without_details() {
    let _alone = alone();
    let mut options = MemoryOptions::default();
    options.expire_after = Some(Duration::from_secs(3600));
    let memory = Memory::with_store(Arc::new(Broken), options);
    let all = seen(Level::WARN, || assert!(memory.delete("/memories/a").is_err()));
    let [expiry, delete] = &all[..] else { panic!("two warnings, got {}", all.len()) };
    assert_eq!(expiry.fields.get("memdir.cause"), "store");
    assert_eq!(expiry.fields.get("memdir.operation"), "expire");
    assert_eq!(expiry.fields.get("memdir.outcome"), "failed");
    assert_eq!(delete.fields.get("memdir.path"), "/memories/a");
    assert!(expiry.fields.0.values().all(|value| !value.contains("db.internal")));
}

#[test]
fn a_broken_store_is_a_warning_without_details() {
    let _alone = alone();
    let memory = Memory::with_store(Arc::new(Broken), MemoryOptions::default());
    let all = seen(Level::WARN, || {
        assert!(memory.delete("/memories/a").is_err());
        assert!(memory.delete("/memories").is_err());
    });
    let [warning] = &all[..] else { panic!("one warning, got {}", all.len()) };
    assert_eq!(warning.level, Level::WARN);
    assert_eq!(warning.fields.get("memdir.outcome"), "failed");
    assert_eq!(warning.fields.get("memdir.path"), "/memories/a");
    assert!(warning.fields.0.values().all(|value| !value.contains("db.internal")));
}

/// A store that fails with this error.
struct Fails(fn() -> StoreError);

impl memdir::store::Layer for Fails {
    fn inner(&self) -> &dyn Store {
        &UNREACHABLE
    }

    fn read_in(&self, _: &memdir::store::Context, _: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        Err((self.0)())
    }

    fn open_in(
        &self,
        _: &memdir::store::Context,
        _: &MemoryPath,
        _: usize,
    ) -> Result<memdir::store::Node<'_>, StoreError> {
        Err((self.0)())
    }
}

fn of_system(kind: std::io::ErrorKind) -> StoreError {
    let inner = std::io::Error::new(kind, "/host/place of db.internal");
    StoreError::failed("reading a file", inner)
}

#[test]
fn a_failure_names_the_kind_of_its_cause_and_its_details_are_for_debugging() {
    use std::io::ErrorKind as Kind;

    let _alone = alone();
    type Failure = (fn() -> StoreError, &'static str);
    let failures: [Failure; 9] = [
        (|| StoreError::Busy, "busy"),
        (|| of_system(Kind::TimedOut), "timeout"),
        (|| of_system(Kind::ConnectionRefused), "unreachable"),
        (|| of_system(Kind::PermissionDenied), "permission"),
        (|| of_system(Kind::StorageFull), "full"),
        (|| of_system(Kind::NotFound), "missing"),
        (|| of_system(Kind::InvalidData), "store"),
        (|| StoreError::failed("reading a file", "/host/place of db.internal"), "store"),
        (|| StoreError::failed("going on", StoreError::Busy), "busy"),
    ];
    for (failure, cause) in failures {
        let memory = Memory::with_store(Arc::new(Fails(failure)), MemoryOptions::default());
        let all = seen(Level::DEBUG, || assert!(memory.view("/memories/a", None).is_err()));
        let [warning, details, span] = &all[..] else { panic!("{cause}: {}", all.len()) };
        assert_eq!((warning.level, details.level), (Level::WARN, Level::DEBUG), "{cause}");
        for told in [warning, span] {
            assert_eq!(told.fields.get("memdir.cause"), cause);
            assert!(told.fields.0.values().all(|value| !value.contains("host")), "{cause}");
        }
        let text = details.fields.get("memdir.details");
        assert_eq!(text, format!("the memory store failed: {}", failure()));
        assert_eq!(details.fields.get("memdir.path"), "/memories/a");
    }
}

#[test]
fn the_details_of_a_failed_hook_hold_no_sensitive_text() {
    struct Unwell;
    impl MemoryHooks for Unwell {
        fn before(&self, _: &Command<'_>, _: &HookCall<'_>) -> Result<HookDecision, HookError> {
            Err("no answer from postgres://app:t7Kq-9zLw2@db/app".into())
        }
    }
    let _alone = alone();
    let mut options = MemoryOptions::default();
    options.sensitive_on_view = true;
    let memory = Memory::open("memory:", options).unwrap().with_hooks(Arc::new(Unwell));
    let all = seen(Level::DEBUG, || assert!(memory.view("/memories", None).is_err()));
    assert_eq!(all[0].fields.get("memdir.cause"), "hook");
    let details = all[1].fields.get("memdir.details");
    assert!(details.contains("[REDACTED:") && !details.contains("t7Kq"), "{details}");
}

#[test]
fn a_cancelled_call_is_no_failure() {
    let _alone = alone();
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    let cancellation = memdir::Cancellation::new();
    cancellation.cancel();
    let memory = memory.cancelled_by(&cancellation);
    let create = || memory.create("/memories/a", "x").is_err();
    assert_eq!(seen(Level::WARN, || assert!(create())).len(), 0);
    let all = seen(Level::DEBUG, || assert!(create()));
    let [event, span] = &all[..] else { panic!("{}", all.len()) };
    assert_eq!((event.level, event.fields.get("memdir.outcome")), (Level::DEBUG, "cancelled"));
    assert_eq!(event.fields.get("memdir.cause"), "-");
    assert_eq!(span.fields.get("error.type"), "cancelled");
    // So is a command that is cancelled in a store.
    let gives_up = Fails(|| StoreError::Source(Box::new(StoreError::Cancelled)));
    let memory = Memory::with_store(Arc::new(gives_up), MemoryOptions::default());
    assert_eq!(seen(Level::WARN, || assert!(memory.view("/memories/a", None).is_err())).len(), 0);
}

#[test]
fn what_expires_is_told_also_where_nobody_asked() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    let open = || {
        let mut options = MemoryOptions::default();
        options.expire_after = Some(Duration::from_secs(3600));
        Memory::open(place.path().to_str().unwrap(), options).unwrap()
    };
    let memory = open();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_234_567_890);
    for (path, time) in [("/memories/new", None), ("/memories/old", Some(long_ago))] {
        memory.create(path, "12345").unwrap();
        if let Some(time) = time {
            let path = MemoryPath::parse(path).unwrap();
            memory.store().set_modified(&path, time).unwrap();
        }
    }
    let all =
        seen(Level::DEBUG, || drop(memory.expire(Duration::ZERO, true, &mut |_| Continue(()))));
    assert_eq!(all.len(), 0);
    let all = seen(Level::DEBUG, || drop(open().view("/memories", None)));
    let [expired, ..] = &all[..] else { panic!("nothing was told") };
    assert_eq!(expired.fields.get("memdir.expired"), "/memories/old");
    assert_eq!((expired.level, expired.fields.get("memdir.bytes")), (Level::DEBUG, "5"));
    assert!(all[1..].iter().all(|seen| seen.fields.get("memdir.expired") == "-"));
}

#[test]
fn what_a_store_or_a_hook_records_stands_in_the_span() {
    let _alone = alone();
    struct Records;
    impl MemoryHooks for Records {
        fn before(
            &self,
            command: &Command<'_>,
            _: &HookCall<'_>,
        ) -> Result<HookDecision, HookError> {
            tracing::info!(target: "memdir", "of the hook's own");
            Ok(match command {
                Command::Delete { .. } => HookDecision::Deny("No.".into()),
                _ => HookDecision::Allow,
            })
        }
    }
    let memory = Memory::with_store(Arc::new(Broken), MemoryOptions::default())
        .with_hooks(Arc::new(Records));
    let all = seen(Level::INFO, || {
        assert!(memory.create("/memories/a", "x").is_err());
        assert!(memory.delete("/memories/a").is_err());
    });
    let told: Vec<String> = all
        .iter()
        .map(|seen| {
            let within = seen.within.as_deref().unwrap_or("-");
            format!("{} {within} {}", seen.what, seen.fields.get("memdir.outcome"))
        })
        .collect();
    let span = "execute_tool memory";
    assert_eq!(
        told,
        [
            format!("event {span} -"),
            format!("event {span} -"),
            format!("event {span} failed"),
            format!("{span} - failed"),
            format!("event {span} -"),
            format!("{span} - denied"),
        ]
    );
}

#[test]
fn a_secret_in_a_path_is_not_told() {
    let _alone = alone();
    let token = ["ghp_8fK2mQz7Lw4Xt9Rb", "1Vc6Ny3Hj5Pd0GsAeT2u"].concat();
    let mut options = MemoryOptions::default();
    options.sensitive_text = memdir::policy::sensitive::SensitiveText::Reject;
    options.record_access = true;
    let memory = Memory::open("memory:", options).unwrap();
    let path = format!("/memories/{token}.md");
    // Another program created it.
    let store = memory.store();
    store.write(&MemoryPath::parse(&path).unwrap(), b"x", OnExisting::Error).unwrap();
    let all = seen(Level::DEBUG, || {
        memory.create(&path, "x").unwrap_err();
        memory.view(&path, None).unwrap();
        memory.rename("/memories/a", &path).unwrap_err();
        memory.expire(Duration::ZERO, false, &mut |_| Continue(())).unwrap();
    });
    let texts: Vec<&String> = all.iter().flat_map(|seen| seen.fields.0.values()).collect();
    assert!(all.len() >= 7, "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains(&token)), "{texts:?}");
    let redacted = "/memories/[REDACTED:github-token].md";
    for field in ["memdir.path", "memdir.new_path", "memdir.expired"] {
        assert!(all.iter().any(|seen| seen.fields.get(field) == redacted), "{field}");
    }
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn a_pooler_without_prepared_statements_is_logged_once() {
    let _alone = alone();
    let Some(pooler) = crate::common::postgres::Server::behind_pooler() else { return };
    let warnings = |more: &str| {
        seen(Level::WARN, || {
            for namespace in ["logged-a", "logged-b"] {
                let address = pooler.address(namespace) + more;
                let memory = Memory::open(&address, MemoryOptions::default()).unwrap();
                memory.create("/memories/a", "x").unwrap();
                memory.view("/memories/a", None).unwrap();
                memory.delete("/memories/a").unwrap();
            }
        })
    };
    let logged = warnings("");
    assert_eq!(logged.len(), 1);
    assert_eq!(logged[0].fields.get("memdir.operation"), "connect");
    let details = logged[0].fields.get("memdir.details");
    assert!(details.contains("prepared_statements=off"), "{details}");
    assert!(warnings("&prepared_statements=off").is_empty());
}
