//! Three-way merge of lines: combines two texts that were made from the same base.
//!
//! A crate for this would add a second diff algorithm. This module uses the diff of the history, and merges as `diff3` and git
//! do: changes that touch each other and differ are a conflict.

use std::ops::Range;

use imara_diff::Hunk;

use super::line_diff::line_diff;

/// The lines before, between and after the two sides of a conflict in the result of [`merge`].
pub const CONFLICT_MARKS: [&str; 3] = ["<<<<<<< yours", "=======", ">>>>>>> there now"];

/// The result of a [`merge`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// The text with the changes of both sides. A conflict contains both sides, between [`CONFLICT_MARKS`].
    pub text: String,
    /// The number of conflicts.
    pub conflicts: usize,
}

/// Merges the changes that `mine` and `theirs` made to `base`, line by line. An editor needs this if a file was changed while it was
/// being edited. Changes that touch each other and differ are a conflict.
///
/// ```
/// use memdir::text::merge;
///
/// let merged = merge("one\ntwo\nthree\n", "ONE\ntwo\nthree\n", "one\ntwo\nTHREE\n");
/// assert_eq!((merged.text.as_str(), merged.conflicts), ("ONE\ntwo\nTHREE\n", 0));
/// ```
#[must_use]
pub fn merge(base: &str, mine: &str, theirs: &str) -> Merged {
    let [base_lines, mine_lines, theirs_lines] = [base, mine, theirs].map(lines);
    let (mut ours, mut others) =
        (Side::new(base, mine, mine_lines), Side::new(base, theirs, theirs_lines));
    let (mut text, mut conflicts, mut at) = (String::new(), 0, 0);
    while let Some(mut range) = first(&ours, &others) {
        push(&mut text, &base_lines[at..range.start]);
        // Every change that touches the range belongs to it, and may extend it.
        while ours.extend(&mut range) | others.extend(&mut range) {}
        let (yours, there) = (ours.take(&range), others.take(&range));
        match (yours, there) {
            ((false, _), (_, lines)) | ((_, lines), (false, _)) => push(&mut text, lines),
            ((_, mine), (_, theirs)) if mine == theirs => push(&mut text, mine),
            ((_, mine), (_, theirs)) => {
                conflicts += 1;
                for (mark, lines) in CONFLICT_MARKS.into_iter().zip([mine, theirs, &[]]) {
                    end_line(&mut text);
                    text.push_str(mark);
                    text.push('\n');
                    push(&mut text, lines);
                }
            }
        }
        at = range.end;
    }
    push(&mut text, &base_lines[at..]);
    Merged { text, conflicts }
}

/// The lines of both texts: those that both have once, and between them the other lines of `mine`, then those of `theirs`. For lists to which
/// both sides have added lines at the same place.
#[must_use]
pub fn union(mine: &str, theirs: &str) -> String {
    let (mine_lines, theirs_lines) = (lines(mine), lines(theirs));
    let (_, diff) = line_diff(mine, theirs);
    let (mut text, mut at) = (String::new(), 0);
    for hunk in diff.hunks() {
        // Until the end of the hunk, the lines of `mine` are common ones and its own.
        push(&mut text, mine_lines.get(at..hunk.before.end as usize).unwrap_or_default());
        let added = hunk.after.start as usize..hunk.after.end as usize;
        push(&mut text, theirs_lines.get(added).unwrap_or_default());
        at = hunk.before.end as usize;
    }
    push(&mut text, mine_lines.get(at..).unwrap_or_default());
    text
}

/// Merges two texts whose base is not known. Lines that only one of them has are kept. If both have different lines at the same place, that is a
/// conflict.
///
/// ```
/// use memdir::text::merge_without_base;
///
/// let merged = merge_without_base("one\ntwo\n", "zero\none\ntwo\n");
/// assert_eq!((merged.text.as_str(), merged.conflicts), ("zero\none\ntwo\n", 0));
/// ```
#[must_use]
pub fn merge_without_base(mine: &str, theirs: &str) -> Merged {
    let mine_lines = lines(mine);
    let (_, diff) = line_diff(mine, theirs);
    let (mut common, mut at) = (String::new(), 0);
    for hunk in diff.hunks() {
        push(&mut common, mine_lines.get(at..hunk.before.start as usize).unwrap_or_default());
        at = hunk.before.end as usize;
    }
    push(&mut common, mine_lines.get(at..).unwrap_or_default());
    merge(&common, mine, theirs)
}

/// The number of lines that are the first or the last of [`CONFLICT_MARKS`]. It is 0 if the text has no conflict of [`merge`] left.
#[must_use]
pub fn count_conflict_marks(text: &str) -> usize {
    text.lines().filter(|line| CONFLICT_MARKS[0] == *line || CONFLICT_MARKS[2] == *line).count()
}

/// The lines, including their line endings.
fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn push(text: &mut String, lines: &[&str]) {
    for line in lines {
        // The last line of a text may have no line ending, and another line may follow it here.
        end_line(text);
        text.push_str(line);
    }
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// The lines of the base that the next change of either side replaces.
fn first(ours: &Side<'_>, others: &Side<'_>) -> Option<Range<usize>> {
    let next = [ours, others].into_iter().filter_map(Side::next);
    next.min_by_key(|range| (range.start, range.end))
}

/// A text as a list of changes to the base.
struct Side<'t> {
    lines: Vec<&'t str>,
    hunks: Vec<Hunk>,
    /// The number of hunks that are done, and the number of hunks in the current range.
    done: usize,
    taken: usize,
}

impl<'t> Side<'t> {
    fn new(base: &'t str, text: &'t str, lines: Vec<&'t str>) -> Self {
        let (_, diff) = line_diff(base, text);
        Self { lines, hunks: diff.hunks().collect(), done: 0, taken: 0 }
    }

    /// The lines of the base that the next change replaces.
    fn next(&self) -> Option<Range<usize>> {
        let hunk = self.hunks.get(self.done + self.taken)?;
        Some(hunk.before.start as usize..hunk.before.end as usize)
    }

    /// Extends the range if the next change touches it.
    fn extend(&mut self, range: &mut Range<usize>) -> bool {
        match self.next() {
            Some(next) if next.start <= range.end => {
                range.end = range.end.max(next.end);
                self.taken += 1;
                true
            }
            _ => false,
        }
    }

    /// Whether this side changed the range, and its lines for the range.
    fn take(&mut self, range: &Range<usize>) -> (bool, &[&'t str]) {
        let of_range = self.done..self.done + self.taken;
        self.done = of_range.end;
        let is_changed = self.taken > 0;
        self.taken = 0;
        let (start, end) =
            (self.place(range.start, of_range.start), self.place(range.end, of_range.end));
        (is_changed, self.lines.get(start..end).unwrap_or_default())
    }

    /// The position in this text of a line of the base that is between this hunk and the one before it.
    fn place(&self, line: usize, hunk: usize) -> usize {
        let before = hunk.checked_sub(1).and_then(|before| self.hunks.get(before));
        before.map_or(line, |hunk| line - hunk.before.end as usize + hunk.after.end as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn merged(base: &str, mine: &str, theirs: &str) -> (String, usize) {
        let Merged { text, conflicts } = merge(base, mine, theirs);
        (text, conflicts)
    }

    #[test]
    fn changes_at_different_lines_are_both_kept() {
        let base = "one\ntwo\nthree\nfour\nfive\n";
        let mine = "zero\none\ntwo\nthree\nfour\nfive\n";
        let theirs = "one\ntwo\nthree\nfive\nsix\n";
        let both = "zero\none\ntwo\nthree\nfive\nsix\n";
        assert_eq!(merged(base, mine, theirs), (both.to_owned(), 0));
        assert_eq!(merged(base, theirs, mine), (both.to_owned(), 0));
    }

    #[test]
    fn different_changes_of_a_line_are_a_conflict_with_both_sides() {
        let (text, conflicts) = merged("a\nb\nc\n", "a\nmine\nc\n", "a\ntheirs\nc\n");
        assert_eq!(text, "a\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> there now\nc\n");
        assert_eq!((conflicts, count_conflict_marks(&text)), (1, 2));
        // The same change on both sides is not a conflict.
        assert_eq!(merged("a\nb\n", "a\nx\n", "a\nx\n"), ("a\nx\n".to_owned(), 0));
    }

    #[test]
    fn a_last_line_without_an_ending_stays_a_line_of_its_own() {
        assert_eq!(
            merged("a", "mine", "theirs").0,
            "<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> there now\n"
        );
        assert_eq!(merged("a\nb", "x\na\nb", "a\nb"), ("x\na\nb".to_owned(), 0));
        assert_eq!(merged("", "mine", "mine"), ("mine".to_owned(), 0));
    }

    #[test]
    fn a_union_has_the_lines_of_both_in_order() {
        assert_eq!(union("a\nx\nb\n", "a\ny\nb\n"), "a\nx\ny\nb\n");
        assert_eq!(union("x\ny\n", "z\nx\ny\n"), "z\nx\ny\n");
        assert_eq!(union("a", "b"), "a\nb");
        assert_eq!((union("", "b\n").as_str(), union("a\n", "").as_str()), ("b\n", "a\n"));
    }

    #[test]
    fn texts_without_a_base_keep_the_lines_of_both() {
        let merged = |mine, theirs| {
            let merged = merge_without_base(mine, theirs);
            (merged.text, merged.conflicts)
        };
        assert_eq!(merged("a\nb\nc\n", "a\nc\nd\n"), ("a\nb\nc\nd\n".to_owned(), 0));
        let conflict = "a\n<<<<<<< yours\nx\n=======\ny\n>>>>>>> there now\nb\n";
        assert_eq!(merged("a\nx\nb\n", "a\ny\nb\n"), (conflict.to_owned(), 1));
        assert_eq!(merged("a", "a"), ("a".to_owned(), 0));
    }

    #[test]
    fn large_texts_are_merged_whatever_their_shape() {
        let lines =
            |of: fn(usize) -> String| -> String { (0..9_000).map(|n| of(n) + "\n").collect() };
        let base = lines(|n| n.to_string());
        let mine = lines(|n| if n % 4 == 0 { format!("mine {n}") } else { n.to_string() });
        let theirs = lines(|n| if n % 4 == 2 { format!("theirs {n}") } else { n.to_string() });
        let both = lines(|n| match n % 4 {
            0 => format!("mine {n}"),
            2 => format!("theirs {n}"),
            _ => n.to_string(),
        });
        assert_eq!(merged(&base, &mine, &theirs), (both, 0));
        // One side adds lines to a text of identical lines.
        let same = lines(|_| "same".to_owned());
        let added = lines(|n| if n % 2 == 0 { format!("same\n{n}") } else { "same".to_owned() });
        assert_eq!(merged(&same, &added, &same), (added.clone(), 0));
        let swapped = lines(|n| (n ^ 1).to_string());
        assert_eq!(merged(&base, &swapped, &base), (swapped.clone(), 0));
        assert_eq!(merged(&base, &swapped, &swapped), (swapped.clone(), 0));
    }

    proptest! {
        #[test]
        fn a_side_that_changed_nothing_takes_the_other(base in "([ab]\n){0,8}", other in "([abc]\n){0,8}") {
            prop_assert_eq!(merged(&base, &base, &other), (other.clone(), 0));
            prop_assert_eq!(merged(&base, &other, &base), (other.clone(), 0));
            prop_assert_eq!(merged(&base, &other, &other), (other.clone(), 0));
        }

        #[test]
        fn a_union_loses_no_line(mine in "([abm]\n){0,8}", theirs in "([abt]\n){0,8}") {
            let text = union(&mine, &theirs);
            let count = |text: &str, line: &str| text.lines().filter(|one| *one == line).count();
            for line in ["a", "b", "m", "t"] {
                prop_assert!(count(&text, line) >= count(&mine, line).max(count(&theirs, line)));
            }
            prop_assert_eq!(union(&mine, &mine), mine);
        }

        /// No line of either side is lost, and the marks are complete.
        #[test]
        fn every_added_line_is_in_the_merged_text(
            base in "([ab]\n){0,6}", mine in "([abm]\n){0,6}", theirs in "([abt]\n){0,6}",
        ) {
            let (text, conflicts) = merged(&base, &mine, &theirs);
            prop_assert_eq!(count_conflict_marks(&text), conflicts * 2);
            let count = |text: &str, line: &str| text.lines().filter(|one| *one == line).count();
            prop_assert_eq!(count(&text, "m"), count(&mine, "m"));
            prop_assert_eq!(count(&text, "t"), count(&theirs, "t"));
        }
    }
}
