//! Sensitive text in commands: edits next to a secret, the redaction in views, and paths and events.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::{Arc, Mutex};

use memdir::policy::sensitive::{SensitiveRule, SensitiveText};
use memdir::store::InProcess;
use memdir::{
    Command, Event, HookCall, HookDecision, HookError, Memory, MemoryHooks, MemoryOptions,
    MemoryPath, OnExisting, Store,
};

/// Two halves of a token; together they are a secret.
const HALVES: [&str; 2] = ["ghp_8fK2mQz7Lw4Xt9Rb", "1Vc6Ny3Hj5Pd0GsAeT2u"];

fn token() -> String {
    HALVES.concat()
}

/// A memory on a store in which `/memories/a` already contains `content`.
fn holding(content: &str, change: impl FnOnce(&mut MemoryOptions)) -> (Memory, Arc<InProcess>) {
    let store = Arc::new(InProcess::new());
    let path = MemoryPath::parse("/memories/a").unwrap();
    store.write(&path, content.as_bytes(), OnExisting::Error).unwrap();
    let mut options = MemoryOptions::default();
    change(&mut options);
    (Memory::with_store(store.clone(), options), store)
}

fn content(store: &InProcess) -> String {
    let path = MemoryPath::parse("/memories/a").unwrap();
    String::from_utf8(store.read(&path).unwrap()).unwrap()
}

fn rejecting(options: &mut MemoryOptions) {
    options.sensitive_text = SensitiveText::Reject;
}

fn redacting(options: &mut MemoryOptions) {
    options.sensitive_text = SensitiveText::Redact;
}

fn hiding(options: &mut MemoryOptions) {
    options.sensitive_on_view = true;
}

#[test]
fn an_edit_that_only_completes_a_secret_is_one_that_writes_it() {
    let before = format!("one\nkey {}+++\n", HALVES[0]);
    let (memory, store) = holding(&before, rejecting);
    let refused = memory.str_replace("/memories/a", "+++", HALVES[1]).unwrap_err().to_string();
    assert!(refused.contains("line 2 (github-token)"), "{refused}");
    assert!(!refused.contains(HALVES[0]) && !refused.contains(HALVES[1]), "{refused}");
    assert_eq!(content(&store), before);

    // Deleting the text between the halves also joins them.
    let between = format!("{}+++{}\n", HALVES[0], HALVES[1]);
    let (memory, store) = holding(&between, rejecting);
    memory.str_replace("/memories/a", "+++", "").unwrap_err();
    assert_eq!(content(&store), between);
    let (memory, store) = holding(&between, redacting);
    memory.str_replace("/memories/a", "+++", "").unwrap();
    assert_eq!(content(&store), "[REDACTED:github-token]\n");
}

#[test]
fn a_name_before_a_value_makes_it_a_secret() {
    let (memory, store) = holding("ENV q7Lw4Xt9Rb1Vc6Ny end\n", redacting);
    let reply = memory.str_replace("/memories/a", "ENV ", "api_key: ").unwrap();
    assert!(reply.contains("line 1 (secret-assignment)"), "{reply}");
    assert_eq!(content(&store), "api_key: [REDACTED:secret-assignment] end\n");
}

#[test]
fn somebody_elses_secret_does_not_stand_in_the_way() {
    let before = format!("{}\nnotes\n{}\n", token(), token());
    for policy in [rejecting, redacting] {
        let (memory, store) = holding(&before, policy);
        memory.str_replace("/memories/a", "notes", "more notes").unwrap();
        // Directly before and after a secret, where the new text touches it.
        memory.insert("/memories/a", 0, "first").unwrap();
        memory.insert("/memories/a", 4, "last").unwrap();
        let after = format!("first\n{}\nmore notes\n{}\nlast\n", token(), token());
        assert_eq!(content(&store), after);
        // It may be removed.
        memory.str_replace("/memories/a", &format!("first\n{}", token()), "gone").unwrap();
        assert_eq!(content(&store), format!("gone\nmore notes\n{}\nlast\n", token()));
    }
}

#[test]
fn what_is_redacted_leaves_the_rest_as_it_was_sent() {
    let (memory, store) = holding("a\nb\n", redacting);
    let text = format!("x {} y\nz password: hunter22!\n", token());
    let reply = memory.insert("/memories/a", 1, &text).unwrap();
    assert_eq!(
        reply,
        "The file /memories/a has been edited.\n[Sensitive text was not written: line 2 \
         (github-token), line 3 (password-assignment). The file holds [REDACTED:…] in its place.]"
    );
    let expected =
        "a\nx [REDACTED:github-token] y\nz password: [REDACTED:password-assignment]\nb\n";
    assert_eq!(content(&store), expected);
    // A redaction mark in the file itself is ordinary text.
    memory.str_replace("/memories/a", "x [REDACTED:github-token] y", "x").unwrap();
}

#[test]
fn limits_are_those_of_what_is_written() {
    let (memory, store) = holding("", |options| {
        options.sensitive_text = SensitiveText::Redact;
        options.max_file_bytes = Some(20);
    });
    memory.create("/memories/b", "pwd: a1b2c3").unwrap_err();
    assert_eq!(content(&store), "");
}

#[test]
fn a_view_hides_what_the_file_holds() {
    let key = format!(
        "-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n".repeat(3)
    );
    let before = format!("one\n{key}\nseven {}\neight\n", token());
    let (memory, store) = holding(&before, hiding);
    let view = memory.view("/memories/a", None).unwrap();
    let mark = "[REDACTED:private-key]";
    let lines = format!(
        "Here's the content of /memories/a with line numbers:\n     1\tone\n     2\t{mark}\n     \
         3\t{mark}\n     4\t{mark}\n     5\t{mark}\n     6\t{mark}\n     7\tseven [REDACTED:\
         github-token]\n     8\teight"
    );
    assert_eq!(view, lines);
    let part = memory.view("/memories/a", Some((6, 7))).unwrap();
    assert!(
        part.ends_with("     6\t[REDACTED:private-key]\n     7\tseven [REDACTED:github-token]")
    );

    // Text next to it can be edited, and the reply redacts as a view does.
    let reply = memory.str_replace("/memories/a", "eight", "8").unwrap();
    assert!(
        reply.contains(
            "     6\t[REDACTED:private-key]\n     7\tseven [REDACTED:github-token]\n     8\t8"
        ),
        "{reply}"
    );
    let reply = memory.str_replace("/memories/a", "seven ", "7 ").unwrap();
    assert!(reply.contains("     7\t7 [REDACTED:github-token]\n"), "{reply}");
    // The mark that replaces it in a view cannot be edited.
    let refused = memory.str_replace("/memories/a", "7 [REDACTED:github-token]", "7").unwrap_err();
    assert!(refused.to_string().contains("is not in the file"), "{refused}");
    assert_eq!(content(&store), format!("one\n{key}\n7 {}\n8\n", token()));
}

#[test]
fn paths_are_judged_and_not_repeated() {
    for policy in [rejecting, redacting] {
        let (memory, _) = holding("x", policy);
        let named = format!("/memories/{}.md", token());
        for refused in [memory.create(&named, "x"), memory.rename("/memories/a", &named)] {
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("github-token") && !refused.contains(&token()), "{refused}");
        }
    }
}

/// Records the calls of hooks.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl MemoryHooks for Told {
    fn before(&self, command: &Command<'_>, _: &HookCall<'_>) -> Result<HookDecision, HookError> {
        Ok(match command {
            Command::Delete { .. } => HookDecision::Deny("No.".to_owned()),
            _ => HookDecision::Allow,
        })
    }

    fn after(&self, event: &Event) {
        self.0.lock().unwrap().push(format!("{event:?}"));
    }
}

#[test]
fn paths_of_events_hold_no_secret() {
    for policy in [rejecting, redacting, hiding] {
        let (memory, _) = holding("x", policy);
        let told = Arc::new(Told::default());
        let memory = memory.with_hooks(told.clone());
        let (named, long) = (token(), format!("{} {}", "n".repeat(200), token()));
        for name in [named, long] {
            let named = format!("/memories/{name}");
            let _ = memory.create(&named, "x");
            let _ = memory.view(&named, None);
            let _ = memory.rename("/memories/a", &named);
            let _ = memory.rename(&named, "/memories/b");
            let _ = memory.delete(&named);
        }
        let told = told.0.lock().unwrap();
        assert_eq!(told.len(), 10);
        for event in told.iter() {
            assert!(
                !event.contains(&token()) && event.contains("[REDACTED:github-token]"),
                "{event}"
            );
        }
    }
}

#[test]
fn rules_of_ones_own_come_first() {
    let (memory, store) = holding("", |options| {
        options.sensitive_text = SensitiveText::Redact;
        options.sensitive_rules = vec![
            SensitiveRule::new("staff-badge", r"\bEMP-\d{6}\b").unwrap(),
            SensitiveRule::new("our-token", "ghp_[A-Za-z0-9]+").unwrap(),
            SensitiveRule::new("codename", "project (?i:(albatross|penguin))").unwrap(),
        ];
    });
    memory.insert("/memories/a", 0, &format!("EMP-204117 {}\nproject Penguin", token())).unwrap();
    let expected = "[REDACTED:staff-badge] [REDACTED:our-token]\nproject [REDACTED:codename]\n";
    assert_eq!(content(&store), expected);
}
