//! [`LineTrace`]: follows the lines of a text back through its earlier versions, change by change.
//!
//! Only the lines that a splice touches are compared. So a step costs as much as the edit, plus one pass over the lengths
//! of the lines to find its position.

use std::ops::Range;

use imara_diff::InternedInput;

use super::line_diff::diff_of_lines;
use super::record::Damaged;

/// A line of the earlier text, and its number in the followed text if it is still in it.
#[derive(Debug, Clone)]
struct TracedLine {
    /// The line, including its line ending.
    bytes: Vec<u8>,
    number: Option<usize>,
}

/// The lines of a text at an earlier time, with their numbers in the followed text. `C` identifies the change that added a line.
pub(super) struct LineTrace<C> {
    lines: Vec<TracedLine>,
    /// The change that added each line of the followed text.
    brought_by: Vec<Option<C>>,
    /// The number of lines that are still followed.
    remaining: usize,
}

impl<C: Copy> LineTrace<C> {
    pub(super) fn new(text: &[u8]) -> Self {
        let lines: Vec<TracedLine> = split(text)
            .enumerate()
            .map(|(number, line)| TracedLine { bytes: line.to_vec(), number: Some(number) })
            .collect();
        let remaining = lines.len();
        Self { lines, brought_by: vec![None; remaining], remaining }
    }

    /// Whether the change of each line is known.
    pub(super) fn is_complete(&self) -> bool {
        self.remaining == 0
    }

    /// The change that added each line; `None` for lines that are still followed.
    pub(super) fn into_causes(self) -> Vec<Option<C>> {
        self.brought_by
    }

    /// Assigns all lines that are still followed to this change.
    pub(super) fn end(&mut self, cause: C) {
        for number in self.lines.iter_mut().filter_map(|line| line.number.take()) {
            self.brought_by[number] = Some(cause);
        }
        self.remaining = 0;
    }

    /// The text that the trace has reached.
    pub(super) fn text(&self) -> Vec<u8> {
        self.lines.iter().flat_map(|line| &line.bytes).copied().collect()
    }

    /// Goes back over a splice at a position, which replaced `removed` by `inserted`. Lines that did not exist before were added
    /// by `cause`.
    pub(super) fn undo_splice(
        &mut self,
        at: usize,
        removed: &[u8],
        inserted: &[u8],
        cause: C,
    ) -> Result<(), Damaged> {
        let (first, start) = self.line_at(at);
        let mut region: Vec<u8> = Vec::new();
        let mut end = first;
        let offset = at - start;
        let mut add = |region: &mut Vec<u8>| {
            let line = self.lines.get(end)?;
            region.extend_from_slice(&line.bytes);
            end += 1;
            Some(())
        };
        while region.len() < offset + inserted.len() {
            add(&mut region).ok_or(Damaged)?;
        }
        // The text that follows must start a line on both sides. Otherwise it is the rest of a line that differs.
        let begins_line = |rest: &[u8]| rest.last().is_none_or(|byte| *byte == b'\n');
        let before = &region[..offset.min(region.len())];
        let was_whole = if removed.is_empty() { begins_line(before) } else { begins_line(removed) };
        if region.len() == offset + inserted.len() && !was_whole {
            // At the end of the text there is no rest.
            let _ = add(&mut region);
        }
        if region.get(offset..offset + inserted.len()) != Some(inserted) {
            return Err(Damaged);
        }
        let old = [&region[..offset], removed, &region[offset + inserted.len()..]].concat();
        self.replace(first..end, split(&old).map(<[u8]>::to_vec).collect(), cause);
        Ok(())
    }

    /// Goes back to a whole text. Lines that are not in it were added by `cause`.
    pub(super) fn go_to(&mut self, old: &[u8], cause: C) {
        let rest = 0..self.lines.len();
        self.replace(rest, split(old).map(<[u8]>::to_vec).collect(), cause);
    }

    /// The line that contains a position or would start there, and the start of that line.
    fn line_at(&self, at: usize) -> (usize, usize) {
        let mut start = 0;
        for (number, line) in self.lines.iter().enumerate() {
            let end = start + line.bytes.len();
            if at < end || (at == end && line.bytes.last() != Some(&b'\n')) {
                return (number, start);
            }
            start = end;
        }
        (self.lines.len(), start)
    }

    /// Replaces some lines by others. Lines that are the same keep their numbers.
    fn replace(&mut self, range: Range<usize>, old: Vec<Vec<u8>>, cause: C) {
        let new = &self.lines[range.clone()];
        let mut kept: Vec<Option<usize>> = vec![None; old.len()];
        let mut is_kept = vec![false; new.len()];
        let same = |(new, old): &(&TracedLine, &Vec<u8>)| new.bytes == **old;
        let head = new.iter().zip(&old).take_while(same).count();
        let (new_rest, old_rest) = (&new[head..], &old[head..]);
        let tail = new_rest.iter().rev().zip(old_rest.iter().rev()).take_while(same).count();
        let (new_end, old_end) = (new.len() - tail, old.len() - tail);
        let mut keep = |new_at: usize, old_at: usize| {
            kept[old_at] = new[new_at].number;
            is_kept[new_at] = true;
        };
        (0..head).for_each(|at| keep(at, at));
        (0..tail).for_each(|at| keep(new_end + at, old_end + at));
        for (new_at, old_at) in common(&new[head..new_end], &old[head..old_end]) {
            keep(head + new_at, head + old_at);
        }
        for (line, is_kept) in new.iter().zip(is_kept) {
            if let (Some(number), false) = (line.number, is_kept) {
                self.brought_by[number] = Some(cause);
                self.remaining -= 1;
            }
        }
        let lines = old.into_iter().zip(kept).map(|(bytes, number)| TracedLine { bytes, number });
        self.lines.splice(range, lines);
    }
}

/// The lines of a text, each with its line ending.
fn split(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// The positions of the lines that both sides have in common, in order.
fn common(new: &[TracedLine], old: &[Vec<u8>]) -> Vec<(usize, usize)> {
    // Both sides end with different lines.
    if new.is_empty() || old.is_empty() || new.len() + old.len() == 2 {
        return Vec::new();
    }
    let mut input: InternedInput<&[u8]> = InternedInput::default();
    input.update_before(old.iter().map(Vec::as_slice));
    input.update_after(new.iter().map(|line| line.bytes.as_slice()));
    let diff = diff_of_lines(&input);
    let places = |len: usize, differs: &dyn Fn(u32) -> bool| -> Vec<usize> {
        (0..len).zip(0..).filter(|(_, token)| !differs(*token)).map(|(at, _)| at).collect()
    };
    let new = places(new.len(), &|token| diff.is_added(token));
    let old = places(old.len(), &|token| diff.is_removed(token));
    new.into_iter().zip(old).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Follows the lines of the last text back to the first. Returns for each line the number of the text that added it.
    fn traced(texts: &[&str], by_splices: bool) -> Vec<usize> {
        let mut trace = LineTrace::new(texts[texts.len() - 1].as_bytes());
        for number in (1..texts.len()).rev() {
            let (old, new) = (texts[number - 1].as_bytes(), texts[number].as_bytes());
            if by_splices {
                let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
                let ends = old[start..].iter().rev().zip(new[start..].iter().rev());
                let end = ends.take_while(|(a, b)| a == b).count();
                let (removed, inserted) =
                    (&old[start..old.len() - end], &new[start..new.len() - end]);
                trace.undo_splice(start, removed, inserted, number).unwrap();
            } else {
                trace.go_to(old, number);
            }
            assert_eq!(trace.text(), old);
        }
        trace.end(0);
        assert!(trace.is_complete());
        trace.into_causes().into_iter().map(Option::unwrap).collect()
    }

    #[test]
    fn a_line_is_traced_to_the_text_that_brought_it() {
        for (texts, expected) in [
            (&[""][..], &[][..]),
            (&["a"], &[0]),
            (&["a\n", "a\nb\n"], &[0, 1]),
            (&["b\n", "a\nb\n"], &[1, 0]),
            (&["a\nc\n", "a\nb\nc\n"], &[0, 1, 0]),
            // The splice begins within the unchanged line.
            (&["-bar\n", "-baz\n-bar\n"], &[1, 0]),
            (&["-bar\n", "-bar\n-baz\n"], &[0, 1]),
            (&["a\nb\nc\n", "a\nB\nc\n"], &[0, 1, 0]),
            (&["a\nb\nc\n", "a\nc\n"], &[0, 0]),
            // A line that is removed and restored was added by the text that restored it.
            (&["a\nb\n", "a\n", "a\nb\n"], &[0, 2]),
            // The line ending is part of the line.
            (&["a", "a\nb\n"], &[1, 1]),
            (&["a\n", "a"], &[1]),
            (&["a\nb\n", "a\nb"], &[0, 1]),
            (&["a\nb\n", "a\r\nb\n"], &[1, 0]),
            (&["a\r\nb\r\n", "a\r\nc\r\nb\r\n"], &[0, 1, 0]),
            // Lines that are joined and split.
            (&["a\nb\n", "ab\n"], &[1]),
            (&["ab\nc\n", "a\nb\nc\n"], &[1, 1, 0]),
            (&["a\n", "", "a\n"], &[2]),
            (&["\n\n", "\n\n\n"], &[0, 0, 1]),
        ] {
            for by_splices in [true, false] {
                assert_eq!(traced(texts, by_splices), expected, "{texts:?}, {by_splices}");
            }
        }
    }

    #[test]
    fn a_splice_that_is_not_of_this_text_is_damage() {
        for (at, inserted) in [(0, "x"), (1, "a"), (4, "b"), (3, "\nb"), (9, ""), (0, "a\nb\nc")] {
            let mut trace = LineTrace::new(b"a\nb\n");
            assert!(
                trace.undo_splice(at, b"", inserted.as_bytes(), ()).is_err(),
                "{at} {inserted}"
            );
        }
    }

    proptest! {
        #![proptest_config(memdir_test_support::effort::cases(500))]

        #[test]
        fn splices_lead_to_the_texts_that_were(
            texts in prop::collection::vec("[ab\n]{0,12}", 1..6),
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            // Each line is in the text that added it and in all later texts, in the same order.
            for by_splices in [true, false] {
                let causes = traced(&texts, by_splices);
                let last: Vec<&str> = texts[texts.len() - 1].split_inclusive('\n').collect();
                for (number, text) in texts.iter().enumerate() {
                    let mut lines = text.split_inclusive('\n');
                    let there = last.iter().zip(&causes).filter(|(_, cause)| **cause <= number);
                    for (line, _) in there {
                        prop_assert!(lines.any(|other| other == *line), "{:?} {:?}", texts, causes);
                    }
                }
            }
        }
    }
}
