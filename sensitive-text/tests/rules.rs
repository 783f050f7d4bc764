//! Precision and recall of the rules on the labelled corpus, and properties of redacted text.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;

use memdir_sensitive_text::{SensitiveRule, find, mark, redact, rule_ids};
use proptest::prelude::*;

mod corpus;
use memdir_test_support::effort;

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

#[test]
fn the_documents_list_every_rule() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/policies/sensitive-text.md");
    let page = std::fs::read_to_string(page).unwrap();
    let list = page.split("## Built-in rules\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let listed: BTreeSet<&str> = list.split('`').skip(1).step_by(2).collect();
    assert_eq!(listed, rule_ids().into_iter().collect());
}

/// The line ends of a key are preserved, also those of Windows.
#[test]
fn what_was_redacted_keeps_its_line_ends() {
    let base64 = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\r\n".repeat(2);
    let armour = |word: &str| format!("-----{word} PRIVATE KEY-----\r\n");
    let text = format!("one\r\n{}{base64}\r\n{}two\r\n", armour("BEGIN"), armour("END"));
    let mark = "[REDACTED:private-key]\r\n";
    let expected = format!("one\r\n{}\r\n{mark}two\r\n", mark.repeat(3));
    assert_eq!(redact(&text, &find(&text, &[])), expected);
}

/// Otherwise a file could not be edited a second time, or marks would be nested.
#[test]
fn a_mark_is_no_secret_wherever_it_stands() {
    let samples = corpus::samples();
    let texts: Vec<String> = samples.into_iter().map(|sample| sample.text).collect();
    let rules: BTreeSet<&str> =
        texts.iter().flat_map(|text| find(text, &[])).map(|finding| finding.rule).collect();
    assert!(rules.len() > 20, "{rules:?}");
    for rule in rules.into_iter().chain(["our-token-2026-x7Kq9zLw2"]) {
        let mark = mark(rule);
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
