//! The difference between two texts, as a unified diff.

use std::fmt::{self, Write as _};

use imara_diff::{Diff, InternedInput, Token};

use super::line_diff::line_diff;

/// The number of unchanged lines shown before and after each change.
const CONTEXT: u32 = 3;

/// A unified diff with three lines of context, in the format of `patch` and git. Empty if neither the contents nor the names
/// differ. For content that is not text, it says only that the files differ. The time is nearly linear in the number of lines
/// for any input.
///
/// ```
/// use memdir::text::unified_diff;
///
/// let diff = unified_diff("a.md", b"green\n", "b.md", b"black\n");
/// assert_eq!(diff, "--- a.md\n+++ b.md\n@@ -1 +1 @@\n-green\n+black\n");
/// ```
#[must_use]
pub fn unified_diff(old_name: &str, old: &[u8], new_name: &str, new: &[u8]) -> String {
    if old == new && old_name == new_name {
        return String::new();
    }
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
        return format!("Binary files {old_name} and {new_name} differ\n");
    };
    let mut made = format!("--- {old_name}\n+++ {new_name}\n");
    if old == new {
        return made;
    }
    let (input, diff) = line_diff(old, new);
    // Writing to a string cannot fail.
    let _ = write_hunks(&mut made, &diff, &input);
    made
}

/// Writes changes with their context lines, as git does: changes whose context lines would meet form one hunk. (The printer
/// of `imara-diff` 0.2 reports the start of the first hunk up to three lines too late.)
fn write_hunks(f: &mut String, diff: &Diff, input: &InternedInput<&str>) -> fmt::Result {
    let changes: Vec<_> = diff.hunks().collect();
    let length = u32::try_from(input.before.len()).unwrap_or(u32::MAX);
    let are_near = |one: &imara_diff::Hunk, next: &imara_diff::Hunk| {
        next.before.start - one.before.end <= 2 * CONTEXT
    };
    for hunk in changes.chunk_by(are_near) {
        let (first, last) = (&hunk[0], &hunk[hunk.len() - 1]);
        let start = first.before.start.saturating_sub(CONTEXT);
        let end = last.before.end.saturating_add(CONTEXT).min(length);
        let new_start = first.after.start - (first.before.start - start);
        let new_end = last.after.end + (end - last.before.end);
        f.write_str("@@ -")?;
        write_range(f, start, end - start)?;
        f.write_str(" +")?;
        write_range(f, new_start, new_end - new_start)?;
        f.write_str(" @@\n")?;
        let mut lines = |mark: char, tokens: &[Token], range: std::ops::Range<u32>| {
            let tokens = &tokens[range.start as usize..range.end as usize];
            tokens.iter().try_for_each(|token| write_line(f, mark, input.interner[*token]))
        };
        let mut at = start;
        for change in hunk {
            lines(' ', &input.before, at..change.before.start)?;
            lines('-', &input.before, change.before.clone())?;
            lines('+', &input.after, change.after.clone())?;
            at = change.before.end;
        }
        lines(' ', &input.before, at..end)?;
    }
    Ok(())
}

fn write_line(f: &mut String, mark: char, line: &str) -> fmt::Result {
    write!(f, "{mark}{line}")?;
    if line.ends_with('\n') { Ok(()) } else { f.write_str("\n\\ No newline at end of file\n") }
}

/// The start of a hunk, counted from 1, and its number of lines. An empty hunk starts at the line before it.
fn write_range(f: &mut String, start: u32, len: u32) -> fmt::Result {
    match len {
        0 => write!(f, "{start},0"),
        1 => write!(f, "{}", start + 1),
        _ => write!(f, "{},{len}", start + 1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn diff(old: &str, new: &str) -> String {
        let diff = unified_diff("a", old.as_bytes(), "a", new.as_bytes());
        diff.strip_prefix("--- a\n+++ a\n").unwrap_or(&diff).to_owned()
    }

    #[test]
    fn hunks_are_those_of_git() {
        assert_eq!(diff("a\n", "a\n"), "");
        assert_eq!(diff("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(diff("a\n", ""), "@@ -1 +0,0 @@\n-a\n");
        let without = "\\ No newline at end of file\n";
        assert_eq!(diff("a", "a\n"), format!("@@ -1 +1 @@\n-a\n{without}+a\n"));
        let old: String = (1..=20).map(|number| format!("{number}\n")).collect();
        let new = old.replace("10\n", "ten\n");
        assert_eq!(diff(&old, &new), "@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n");
    }

    /// Checks each hunk: its lines are where its header says, in both texts, with at most three lines of context around a change.
    /// Applied to the old text, the hunks give the new one.
    fn hold(old: &[&str], new: &[&str]) {
        let text =
            |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let made = diff(&text(old), &text(new));
        let mut applied = Vec::new();
        let mut at = 0;
        for hunk in made.split("@@ -").skip(1) {
            let (header, lines) = hunk.split_once(" @@\n").unwrap();
            let (before, after) = header.split_once(" +").unwrap();
            let range = |range: &str| -> (usize, usize) {
                let (start, len) = range.split_once(',').unwrap_or((range, "1"));
                let (start, len): (usize, usize) = (start.parse().unwrap(), len.parse().unwrap());
                (if len == 0 { start } else { start - 1 }, len)
            };
            let side = |other: char| -> Vec<&str> {
                lines
                    .lines()
                    .filter(|line| !line.starts_with(other))
                    .map(|line| &line[1..])
                    .collect()
            };
            let ((start, len), (new_start, new_len)) = (range(before), range(after));
            assert_eq!(side('+'), old[start..start + len], "{made}");
            assert_eq!(side('-'), new[new_start..new_start + new_len], "{made}");
            let is_same = |line: &&str| line.starts_with(' ');
            assert!(lines.lines().take_while(is_same).count() <= 3, "{made}");
            assert!(lines.lines().rev().take_while(is_same).count() <= 3, "{made}");
            applied.extend(&old[at..start]);
            assert_eq!(applied.len(), new_start, "{made}");
            applied.extend(side('-'));
            at = start + len;
        }
        applied.extend(&old[at..]);
        assert_eq!(applied, new, "{made}");
    }

    #[test]
    fn a_hunk_stands_where_its_header_says() {
        let old: Vec<String> = (0..20).map(|number| number.to_string()).collect();
        let old: Vec<&str> = old.iter().map(String::as_str).collect();
        // Every position of one change, and every distance between two.
        for first in 0..=old.len() {
            for second in first..=old.len() {
                let mut new = old.clone();
                new.insert(second, "second");
                new.insert(first, "first");
                hold(&old, &new);
                hold(&new, &old);
                if second < old.len() {
                    let mut new = old.clone();
                    new[second] = "other";
                    new.remove(first);
                    hold(&old, &new);
                    hold(&new, &old);
                }
            }
        }
        hold(&[], &old);
        hold(&old, &[]);
    }

    /// The result of `patch` on the old text; `None` if a line does not match the diff.
    fn patched(old: &str, diff: &str) -> Option<String> {
        let mut old = old.split_inclusive('\n');
        let mut new = String::new();
        let (mut taken, mut last) = (0, ' ');
        for line in diff.split_inclusive('\n').skip(2) {
            let (mark, text) = line.split_at(1);
            match mark {
                "@" => {
                    let range = line.strip_prefix("@@ -")?.split(' ').next()?;
                    let (start, len) = range.split_once(',').unwrap_or((range, "1"));
                    // An empty range is placed after its line.
                    let start: usize = start.parse().ok()?;
                    let before = if len == "0" { start } else { start.checked_sub(1)? };
                    new.extend(old.by_ref().take(before.checked_sub(taken)?));
                    taken = before;
                }
                // The line before has no line ending.
                "\\" if last != '-' => new.truncate(new.len() - 1),
                "\\" => {}
                "+" => new.push_str(text),
                _ => {
                    let line = old.next()?;
                    taken += 1;
                    if line.strip_suffix('\n') != text.strip_suffix('\n')
                        && line != text.strip_suffix('\n')?
                    {
                        return None;
                    }
                    new.push_str(if mark == " " { text } else { "" });
                }
            }
            last = mark.chars().next()?;
        }
        new.extend(old);
        Some(new)
    }

    #[test]
    fn a_diff_of_a_large_text_can_be_applied_whatever_its_shape() {
        let numbers = |of: fn(usize) -> usize| -> String {
            (0..1_100).map(|number| format!("{}\n", of(number))).collect()
        };
        let shapes: [fn(usize) -> usize; 8] = [
            |n| n,
            |n| if n % 2 == 0 { n } else { 0 },
            |n| n ^ 1,
            |n| n % 2,
            |n| n * n % 61,
            |n| 1_100 - n,
            |_| 1,
            |n| n / 3,
        ];
        for old in shapes.map(numbers) {
            for new in shapes.map(numbers) {
                // The last line with its ending, and without it.
                for new in [new.as_str(), new.trim_end()] {
                    let made = unified_diff("a", old.as_bytes(), "b", new.as_bytes());
                    assert!(
                        patched(&old, &made).as_deref() == Some(new),
                        "{}",
                        &made[..200.min(made.len())]
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_no_text_is_not_shown() {
        assert_eq!(unified_diff("a", b"", "b", b"\xff"), "Binary files a and b differ\n");
    }

    proptest! {
        #[test]
        fn a_diff_can_be_applied(old in "([ab]{0,2}\n){0,9}a?", new in "([ab]{0,2}\n){0,9}a?") {
            let made = unified_diff("a", old.as_bytes(), "b", new.as_bytes());
            prop_assert_eq!(patched(&old, &made), Some(new), "{}", made);
        }
    }
}
