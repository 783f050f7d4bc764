//! The difference between two texts, as a unified diff.

use std::fmt;

use imara_diff::{Interner, Token, UnifiedDiffConfig, UnifiedDiffPrinter};

use super::line_diff::line_diff;

/// A unified diff with three lines of context, as `patch` and git read it. Empty if neither the contents nor the names
/// differ. Of what is not text it only says that it differs. The time is nearly linear in the number of lines, whatever differs.
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
    let names = format!("--- {old_name}\n+++ {new_name}\n");
    if old == new {
        return names;
    }
    let (input, diff) = line_diff(old, new);
    let printer = Printer(&input.interner);
    let hunks = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input);
    format!("{names}{hunks}")
}

/// Prints hunks as git does.
struct Printer<'t>(&'t Interner<&'t str>);

impl Printer<'_> {
    fn line(&self, f: &mut impl fmt::Write, mark: char, token: Token) -> fmt::Result {
        let line = self.0[token];
        write!(f, "{mark}{line}")?;
        if line.ends_with('\n') { Ok(()) } else { f.write_str("\n\\ No newline at end of file\n") }
    }
}

/// Where a hunk begins, counted from 1, and how many lines it has. An empty one stands after the line before it.
fn range(f: &mut impl fmt::Write, start: u32, len: u32) -> fmt::Result {
    match len {
        0 => write!(f, "{start},0"),
        1 => write!(f, "{}", start + 1),
        _ => write!(f, "{},{len}", start + 1),
    }
}

impl UnifiedDiffPrinter for Printer<'_> {
    fn display_header(
        &self,
        mut f: impl fmt::Write,
        start_before: u32,
        start_after: u32,
        len_before: u32,
        len_after: u32,
    ) -> fmt::Result {
        f.write_str("@@ -")?;
        range(&mut f, start_before, len_before)?;
        f.write_str(" +")?;
        range(&mut f, start_after, len_after)?;
        f.write_str(" @@\n")
    }

    fn display_context_token(&self, mut f: impl fmt::Write, token: Token) -> fmt::Result {
        self.line(&mut f, ' ', token)
    }

    fn display_hunk(
        &self,
        mut f: impl fmt::Write,
        before: &[Token],
        after: &[Token],
    ) -> fmt::Result {
        before.iter().try_for_each(|token| self.line(&mut f, '-', *token))?;
        after.iter().try_for_each(|token| self.line(&mut f, '+', *token))
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

    /// What `patch` makes of the old text, and `None` where a line is not as the diff says.
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
                    // An empty range stands after its line.
                    let start: usize = start.parse().ok()?;
                    let before = if len == "0" { start } else { start.checked_sub(1)? };
                    new.extend(old.by_ref().take(before.checked_sub(taken)?));
                    taken = before;
                }
                // The line before has no ending; the diff cannot show that otherwise.
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
                // The last line with its ending, and without.
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
