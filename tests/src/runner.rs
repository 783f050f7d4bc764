//! Runs the cases on a store.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use memdir::{Error, ErrorKind, Memory, MemoryOptions, Reply, Store};

use crate::cases::{self, Call, Case, CaseFile, Step};
use crate::hooks::{self, CaseHooks};
use crate::tree::{self, Tree};

/// A fresh memory with an empty store.
pub struct Opened {
    /// The memory that a case runs on.
    pub memory: Memory,
    /// The same store, without those options that the store itself has, too. It is used for what a case
    /// writes directly, which may exceed the memory's limits.
    pub store: Arc<dyn Store>,
    /// A text that no reply may contain: the location of the store on this machine.
    pub secret: Option<String>,
    /// A check for this kind of store after a case, given the complete content of the store.
    pub check: Check,
}

/// An additional check of a store. An error is a failure of the case.
pub type Check = Box<dyn Fn(&Tree) -> Result<(), String>>;

impl Opened {
    /// A memory on `store`, without an additional check.
    pub fn on(store: impl Store + 'static, options: MemoryOptions) -> Self {
        Self::of(Memory::with_store(Arc::new(store), options), None)
    }

    /// A memory whose store has no options of its own.
    pub fn of(memory: Memory, secret: Option<String>) -> Self {
        let store = Arc::clone(memory.store());
        Self { memory, store, secret, check: Box::new(|_| Ok(())) }
    }
}

/// Runs every case, each on a separate memory from `open`. Then prints and saves the number of
/// cases, under the name `runner`.
///
/// # Errors
/// Every failure, in readable form, one after the other.
pub fn run(
    runner: &str,
    open: impl Fn(MemoryOptions) -> Result<Opened, String>,
) -> Result<(), String> {
    let counts = counts_file(runner)?;
    let files = cases::load()?;
    let failures = failures(&files, open);
    if !failures.is_empty() {
        let shown = failures.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n");
        return Err(format!("{runner}: {} of the cases failed\n{shown}", failures.len()));
    }
    let all = || files.iter().flat_map(|file| &file.cases);
    let (cases, steps) = (all().count(), all().map(|case| case.steps.len()).sum::<usize>());
    fs::write(counts, format!("{cases} {steps}\n")).map_err(|error| error.to_string())?;
    // Not `println!`, which is hidden when a test passes.
    writeln!(io::stdout(), "conformance: {runner}: {cases} cases, {steps} steps")
        .map_err(|error| error.to_string())
}

/// The file for the runner's counts. A file from an earlier run is removed.
fn counts_file(runner: &str) -> Result<PathBuf, String> {
    let directory = cases::project_root().join("target").join("conformance");
    fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
    let file = directory.join(runner);
    match fs::remove_file(&file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.to_string()),
        _ => Ok(file),
    }
}

/// The failures, one text for each failed case.
pub fn failures(
    files: &[CaseFile],
    open: impl Fn(MemoryOptions) -> Result<Opened, String>,
) -> Vec<String> {
    let mut failures = Vec::new();
    for file in files {
        for case in &file.cases {
            let ran = open(case.options.clone()).and_then(|opened| run_case(case, &opened));
            if let Err(problem) = ran {
                failures.push(format!(
                    "\n{}, case {:?} ({})\n{problem}",
                    file.name, case.name, case.rule
                ));
            }
        }
    }
    failures
}

fn run_case(case: &Case, opened: &Opened) -> Result<(), String> {
    let store = opened.store.as_ref();
    tree::write(store, &case.given).map_err(|problem| format!("  given: {problem}"))?;
    let mut before = tree::read(store)?;
    if let Some(difference) = tree::difference(&case.given, &before) {
        return Err(format!("  what is given is not what the store holds{difference}"));
    }
    let rules = case.hooks.as_ref().map_or_else(Vec::new, |hooks| hooks.before.clone());
    let hooks = Arc::new(CaseHooks::new(rules));
    let memory = match case.hooks {
        Some(_) => opened.memory.clone().with_hooks(Arc::<CaseHooks>::clone(&hooks)),
        None => opened.memory.clone(),
    };
    for (number, step) in case.steps.iter().enumerate() {
        let failed = |what: &str, problem: String| {
            format!("  step {} of {}: {what}\n{problem}", number + 1, case.steps.len())
        };
        match step {
            Step::Meanwhile(change) => {
                tree::write(store, change).map_err(|problem| failed("meanwhile", problem))?;
                before = tree::read(store)?;
            }
            Step::Upkeep(upkeep) => {
                upkeep
                    .run(&opened.memory)
                    .map_err(|problem| failed(&format!("{upkeep:?}"), problem))?;
                before = tree::read(store)?;
            }
            Step::Call(call) => {
                let input = call.input.to_string();
                let reply = memory.execute(&input);
                let after = tree::read(store)?;
                check_call(call, &reply, opened.secret.as_deref(), &before, &after)
                    .and_then(|()| hooks::check(call.event.as_ref(), &hooks.take()))
                    .map_err(|problem| failed(&shortened(&input), problem))?;
                before = after;
            }
        }
    }
    if let Some(difference) = case.then.as_ref().and_then(|then| tree::difference(then, &before)) {
        return Err(format!("  after the last step{difference}"));
    }
    (opened.check)(&before).map_err(|problem| format!("  after the last step: {problem}"))?;

    opened.memory.clear().map_err(|error| format!("  clearing: {error}"))?;
    match tree::difference(&Tree::new(), &tree::read(store)?) {
        None => Ok(()),
        Some(difference) => Err(format!("  after clearing{difference}")),
    }
}

fn check_call(
    call: &Call,
    reply: &Reply,
    secret: Option<&str>,
    before: &Tree,
    after: &Tree,
) -> Result<(), String> {
    if reply.content != call.content || reply.is_error != call.is_error {
        return Err(differing(call, reply));
    }
    let kind = reply.kind.map(ErrorKind::as_str);
    if kind.is_some() != call.is_error || call.kind.as_deref().is_some_and(|it| Some(it) != kind) {
        return Err(format!("  the kind of error is {kind:?}, not {:?}", call.kind));
    }
    match &reply.cause {
        // A failing hook of the case. Its event tells whether it failed.
        None | Some(Error::Hook(_)) => {}
        Some(cause) => return Err(format!("  {cause}")),
    }
    let content = reply.content.as_text().unwrap_or_default();
    if secret.is_some_and(|secret| content.contains(secret)) {
        return Err(format!("  the reply says where the store is: {}", shortened(content)));
    }
    let may_change = call.expires.is_some() || (!call.is_error && call.command() != Some("view"));
    match tree::difference(before, after) {
        Some(difference) if !may_change => Err(format!("  it changed something{difference}")),
        _ => Ok(()),
    }
}

fn differing(call: &Call, reply: &Reply) -> String {
    let kind = |is_error| if is_error { "error  " } else { "success" };
    let (expected, got) = (call.content.to_string(), reply.content.to_string());
    let mut report = String::new();
    let _ = writeln!(report, "  expected {} {}", kind(call.is_error), shortened(&expected));
    let _ = write!(report, "  got      {} {}", kind(reply.is_error), shortened(&got));
    let same = expected.chars().zip(got.chars()).take_while(|(a, b)| a == b).count();
    if expected != got {
        let from = |text: &str| shortened(&text.chars().skip(same).collect::<String>());
        let _ = write!(
            report,
            "\n  from character {same} on\n  expected {}\n  got      {}",
            from(&expected),
            from(&got)
        );
    }
    report
}

/// A text with visible control characters, shortened if it is long.
fn shortened(text: &str) -> String {
    const MOST: usize = 300;
    match text.char_indices().nth(MOST) {
        None => format!("{text:?}"),
        Some((cut, _)) => format!("{:?}… ({} bytes)", &text[..cut], text.len()),
    }
}
