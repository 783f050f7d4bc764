//! Sensitive text: findings are at valid positions, no finding remains after redaction, and the time is
//! linear in the length.

use memdir_sensitive_text::{SensitiveRule, find, redact};

use crate::UNIT;

/// The input is a text, or units: a text that is repeated, another one that is repeated after it, and the
/// pattern of a custom rule.
pub fn sensitive(data: &[u8]) {
    // The committed inputs have a bar in each secret, so scanners do not report them.
    let text = String::from_utf8_lossy(data).replace('¦', "");
    let units: Vec<&str> = text.splitn(3, UNIT).collect();
    // A counted repetition makes a large pattern. Its cost is up to the developer.
    let pattern = units.get(2).filter(|pattern| !pattern.contains('{'));
    let own: Vec<SensitiveRule> =
        pattern.and_then(|pattern| SensitiveRule::new("own", pattern).ok()).into_iter().collect();
    check(&text, &own);
    let (head, tail) = (units[0], units.get(1).copied().unwrap_or(""));
    if head.len() + tail.len() < 256 {
        takes_linear_time(head, tail, &own);
    }
}

fn check(text: &str, own: &[SensitiveRule]) {
    let found = find(text, own);
    let mut end = 0;
    for finding in &found {
        let range = finding.range.clone();
        assert!(end <= range.start && range.start < range.end, "{found:?}");
        assert!(text.get(range.clone()).is_some(), "{found:?} in {text:?}");
        assert!(
            finding.extent.start <= range.start && range.end <= finding.extent.end,
            "{found:?}"
        );
        assert!(text.get(finding.extent.clone()).is_some(), "{found:?} in {text:?}");
        end = range.end;
    }
    let redacted = redact(text, &found);
    assert_eq!(redacted.matches('\n').count(), text.matches('\n').count());
    assert!(!found.is_empty() || redacted == text);
    let mut expected = String::new();
    let mut at = 0;
    for finding in &found {
        expected += &text[at..finding.range.start];
        let mark = format!("[REDACTED:{}]", finding.rule);
        for (number, line) in text[finding.range.clone()].split('\n').enumerate() {
            expected += if number > 0 { "\n" } else { "" };
            // A line ending stays, and an empty line gets no mark.
            let ended = finding.range.start + end_of_line(&text[finding.range.clone()], number)
                < finding.range.end;
            let end = if ended && line.ends_with('\r') { "\r" } else { "" };
            expected += if line.len() > end.len() { &mark } else { "" };
            expected += end;
        }
        at = finding.range.end;
    }
    expected += &text[at..];
    assert_eq!(redacted, expected);
}

/// The end of the line with this number, counted from 0.
fn end_of_line(text: &str, number: usize) -> usize {
    text.match_indices('\n').nth(number).map_or(text.len(), |(at, _)| at)
}

/// The scanned bytes are counted only in a fuzzing build. The crate's own tests also count them
/// (`sensitive-text/src/linear.rs`), on this target's corpus and others.
#[cfg(not(fuzzing))]
fn takes_linear_time(_: &str, _: &str, _: &[SensitiveRule]) {}

#[cfg(fuzzing)]
fn takes_linear_time(head: &str, tail: &str, own: &[SensitiveRule]) {
    use memdir_sensitive_text::count_steps;

    const SMALL: usize = 3_000;
    let steps = |size: usize| {
        let times = |text: &str, bytes: usize| bytes / text.len().max(1);
        let text = if tail.is_empty() {
            head.repeat(times(head, size))
        } else {
            head.repeat(times(head, size / 3)) + &tail.repeat(times(tail, size * 2 / 3))
        };
        count_steps(|| drop(redact(&text, &find(&text, own))))
    };
    let (small, large) = (steps(SMALL), steps(4 * SMALL));
    let most = 500 * 4 * SMALL as u64;
    assert!(large <= 6 * small + most / 20, "{small} steps, then {large}: {head:?} {tail:?}");
    assert!(large <= most, "{large} steps: {head:?} {tail:?}");
}
