//! Sensitive text: how well the rules do on the labelled corpus, and what an
//! edit beside a secret may do.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use crate::common::effort;
use memdir::policy::sensitive::{SensitiveRule, SensitiveText, find, redact};
use memdir::store::InProcess;
use memdir::{
    Command, Event, HookDecision, HookError, Memory, MemoryHooks, MemoryOptions, MemoryPath,
    OnExisting, Store,
};
use proptest::prelude::*;

#[path = "sensitive/corpus.rs"]
mod corpus;

#[test]
fn precision_and_recall_stay_what_they_are() {
    let samples = corpus::samples();
    assert!(samples.len() >= 600);
    let score = corpus::score(&samples);
    let told = format!("wrong: {:#?}\nmissed: {:#?}", score.wrong, score.missed);
    assert!(score.precision() >= 0.98, "{} {told}", score.precision());
    assert!(score.recall() >= 0.94, "{} {told}", score.recall());
}

#[test]
fn what_was_redacted_is_clean_and_has_as_many_lines() {
    for corpus::Sample { text, .. } in corpus::samples() {
        let redacted = redact(&text, &find(&text, &[]));
        assert_eq!(find(&redacted, &[]), [], "{redacted}");
        assert_eq!(redacted.matches('\n').count(), text.matches('\n').count());
    }
}

/// A key's line ends stay as they are, also where they are Windows'.
#[test]
fn what_was_redacted_keeps_its_line_ends() {
    let base64 = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\r\n".repeat(2);
    let armour = |word: &str| format!("-----{word} PRIVATE KEY-----\r\n");
    let text = format!("one\r\n{}{base64}\r\n{}two\r\n", armour("BEGIN"), armour("END"));
    let mark = "[REDACTED:private-key]\r\n";
    let expected = format!("one\r\n{}\r\n{mark}two\r\n", mark.repeat(3));
    assert_eq!(redact(&text, &find(&text, &[])), expected);
}

/// Else a file could not be edited a second time, or would grow marks within marks.
#[test]
fn a_mark_is_no_secret_wherever_it_stands() {
    let samples = corpus::samples();
    let texts: Vec<String> = samples.into_iter().map(|sample| sample.text).collect();
    let rules: BTreeSet<&str> =
        texts.iter().flat_map(|text| find(text, &[])).map(|finding| finding.rule).collect();
    assert!(rules.len() > 20, "{rules:?}");
    for rule in rules.into_iter().chain(["our-token-2026-x7Kq9zLw2"]) {
        let mark = format!("[REDACTED:{rule}]");
        for text in [
            format!("password: {mark}"),
            format!("\"password\": \"{mark}\","),
            format!("the password is {mark}"),
            format!("secret_key='{mark}'"),
            format!("export API_TOKEN={mark}"),
            format!("Authorization: Bearer {mark}"),
            format!("postgres://app:{mark}@db/app"),
        ] {
            assert_eq!(find(&text, &[]), [], "{text}");
        }
    }
}

proptest! {
    #![proptest_config(effort::cases(100))]
    #[test]
    fn findings_are_ascending_and_on_characters(
        pieces in proptest::collection::vec(
            prop_oneof![
                "[ -~é\n]{0,12}",
                "(password|token|secret|bearer|twilio)[ :=\"'é]{0,3}",
                Just("-----BEGIN PRIVATE KEY-----\\".to_owned()),
                Just("4111 1111 1111 1111".to_owned()),
                Just("://u:p".to_owned()),
                "[A-Za-z0-9+/]{16,50}",
            ],
            0..12,
        )
    ) {
        let text = pieces.concat();
        let own = [SensitiveRule::new("own", "p.").unwrap()];
        let found = find(&text, &own);
        let mut at = 0;
        for finding in &found {
            prop_assert!(at <= finding.range.start && finding.range.start < finding.range.end);
            prop_assert!(!text[finding.range.clone()].is_empty());
            prop_assert!(finding.extent.start <= finding.range.start);
            prop_assert!(finding.extent.end >= finding.range.end);
            at = finding.range.end;
        }
        let redacted = redact(&text, &found);
        prop_assert_eq!(redacted.matches('\n').count(), text.matches('\n').count());
    }
}

/// Half of a token each; together they are one.
const HALVES: [&str; 2] = ["ghp_8fK2mQz7Lw4Xt9Rb", "1Vc6Ny3Hj5Pd0GsAeT2u"];

fn token() -> String {
    HALVES.concat()
}

/// A memory on a store in which `/memories/a` holds `content` already.
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

    // Deleting what stands between both halves does so, too.
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
        // Right before and right after one, where the new text and the secret touch.
        memory.insert("/memories/a", 0, "first").unwrap();
        memory.insert("/memories/a", 4, "last").unwrap();
        let after = format!("first\n{}\nmore notes\n{}\nlast\n", token(), token());
        assert_eq!(content(&store), after);
        // It may be taken out.
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
    // A mark that the file holds is text like any other.
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

    // Text beside it can be edited, and the reply hides as a view does.
    let reply = memory.str_replace("/memories/a", "eight", "8").unwrap();
    assert!(
        reply.contains(
            "     6\t[REDACTED:private-key]\n     7\tseven [REDACTED:github-token]\n     8\t8"
        ),
        "{reply}"
    );
    let reply = memory.str_replace("/memories/a", "seven ", "7 ").unwrap();
    assert!(reply.contains("     7\t7 [REDACTED:github-token]\n"), "{reply}");
    // What is shown in its place cannot be.
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

/// Keeps what hooks are told.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl MemoryHooks for Told {
    fn before(&self, command: &Command<'_>) -> Result<HookDecision, HookError> {
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
