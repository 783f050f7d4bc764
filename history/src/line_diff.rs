//! The lines that two texts have in common, in nearly linear time for every input.
//!
//! The algorithm Histogram of `imara-diff` gives diffs that read well. It scans the whole rest for each run of common lines, so its
//! time is quadratic if many lines differ. Therefore it only gets small pieces here. A larger input is split first, as
//! in a patience diff: at lines, or runs of lines, that occur exactly once on each side.

use std::collections::HashMap;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, IndentHeuristic, IndentLevel, InternedInput, Token};

/// The maximum number of lines, of both sides together, that are compared at once.
const MAX_PIECE: usize = 2048;

/// The lengths of a run of lines that serves as an anchor. If few single lines are unique, longer runs may be.
const RUNS: [usize; 4] = [1, 4, 16, 64];

/// The number of times that a piece is split at anchors before it is split by length.
const MAX_ROUNDS: usize = 8;

/// The maximum number of common lines that a hunk may be moved over, in a large input.
const MAX_SLIDE: usize = 256;

/// The lines of both texts, and the lines that differ.
pub fn line_diff<'t>(old: &'t str, new: &'t str) -> (InternedInput<&'t str>, Diff) {
    let input = InternedInput::new(old, new);
    let diff = diff_of_lines(&input);
    (input, diff)
}

/// The lines that differ.
pub(crate) fn diff_of_lines<L: AsRef<[u8]>>(input: &InternedInput<L>) -> Diff {
    if input.before.len() + input.after.len() <= MAX_PIECE {
        let mut diff = Diff::compute(Algorithm::Histogram, input);
        diff.postprocess_lines(input);
        diff
    } else {
        let mut alignment = Alignment::of(input, MAX_PIECE);
        alignment.slide_hunks(input);
        diff_of(&alignment.old, &alignment.new)
    }
}

/// A line: its text as a token, and its position in its file.
#[derive(Clone, Copy)]
struct Line {
    token: Token,
    at: u32,
}

/// Says for each line of either side whether it is common to both. Both sides have the same number of common lines.
struct Alignment {
    old: Vec<bool>,
    new: Vec<bool>,
    /// For each token, its number within the current piece, or [`UNNUMBERED`].
    numbers: Vec<u32>,
    /// [`MAX_PIECE`]; tests use a smaller value.
    max_piece: usize,
    /// The number of lines visited. The lines of a piece count as often as Histogram may visit them.
    #[cfg(test)]
    looked_at: usize,
}

const UNNUMBERED: u32 = u32::MAX;

impl Alignment {
    fn of<L>(input: &InternedInput<L>, max_piece: usize) -> Self {
        let mut alignment = Self {
            old: vec![false; input.before.len()],
            new: vec![false; input.after.len()],
            numbers: vec![UNNUMBERED; input.interner.num_tokens() as usize],
            max_piece,
            #[cfg(test)]
            looked_at: 0,
        };
        let lines = |tokens: &[Token]| -> Vec<Line> {
            tokens.iter().zip(0..).map(|(&token, at)| Line { token, at }).collect()
        };
        alignment.align(&lines(&input.before), &lines(&input.after), 0);
        alignment
    }

    fn align(&mut self, old: &[Line], new: &[Line], round: usize) {
        let (old, new) = self.without_common_ends(old, new);
        if old.len() + new.len() <= self.max_piece {
            return self.compare(old, new);
        }
        let (old, new) = (self.only_those_of(new, old), self.only_those_of(old, new));
        let (old, new) = self.without_common_ends(&old, &new);
        if old.len() + new.len() <= self.max_piece {
            return self.compare(old, new);
        }
        self.note(old.len() + new.len());
        // With this many anchors, most texts split into small pieces at once.
        let enough = (old.len() + new.len()) * 4 / self.max_piece;
        let anchors = if round < MAX_ROUNDS { anchors(old, new, enough) } else { Vec::new() };
        if anchors.is_empty() {
            return self.cut(old, new);
        }
        let (mut old_at, mut new_at) = (0, 0);
        for (old_anchor, new_anchor) in anchors {
            self.align(&old[old_at..old_anchor], &new[new_at..new_anchor], round + 1);
            self.mark_common(&old[old_anchor..=old_anchor], &new[new_anchor..=new_anchor]);
            (old_at, new_at) = (old_anchor + 1, new_anchor + 1);
        }
        self.align(&old[old_at..], &new[new_at..], round + 1);
    }

    /// Both sides without their common first and last lines, which are marked.
    fn without_common_ends<'l>(
        &mut self,
        old: &'l [Line],
        new: &'l [Line],
    ) -> (&'l [Line], &'l [Line]) {
        let same = |(old, new): &(&Line, &Line)| old.token == new.token;
        let first = old.iter().zip(new).take_while(same).count();
        let ((common_old, old), (common_new, new)) = (old.split_at(first), new.split_at(first));
        self.mark_common(common_old, common_new);
        let last = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
        let (old, common_old) = old.split_at(old.len() - last);
        let (new, common_new) = new.split_at(new.len() - last);
        self.mark_common(common_old, common_new);
        (old, new)
    }

    fn mark_common(&mut self, old: &[Line], new: &[Line]) {
        old.iter().for_each(|line| self.old[line.at as usize] = true);
        new.iter().for_each(|line| self.new[line.at as usize] = true);
    }

    /// The lines that the other side also has.
    fn only_those_of(&mut self, other: &[Line], lines: &[Line]) -> Vec<Line> {
        other.iter().for_each(|line| self.numbers[line.token.0 as usize] = 0);
        let is_common = |line: &&Line| self.numbers[line.token.0 as usize] == 0;
        let common = lines.iter().filter(is_common).copied().collect();
        self.forget_numbers(other);
        common
    }

    /// Compares a piece without anchors in parts that take the same share of each side.
    fn cut(&mut self, old: &[Line], new: &[Line]) {
        // Rounding may give a part one more line on either side.
        let parts = (old.len() + new.len()).div_ceil(self.max_piece - 2);
        let part = |len: usize, part: usize| len * part / parts..len * (part + 1) / parts;
        for number in 0..parts {
            let (old, new) = (&old[part(old.len(), number)], &new[part(new.len(), number)]);
            let (old, new) = self.without_common_ends(old, new);
            self.compare(old, new);
        }
    }

    /// Compares a small piece.
    fn compare(&mut self, old: &[Line], new: &[Line]) {
        if old.is_empty() || new.is_empty() {
            return;
        }
        self.note((old.len() + new.len()).pow(2));
        // Histogram allocates memory for each token number, so each piece is numbered from 0.
        let mut count = 0;
        let numbers = &mut self.numbers;
        let mut numbered = |lines: &[Line]| -> Vec<Token> {
            let number = |line: &Line| {
                let number = &mut numbers[line.token.0 as usize];
                if *number == UNNUMBERED {
                    *number = count;
                    count += 1;
                }
                Token(*number)
            };
            lines.iter().map(number).collect()
        };
        let (before, after) = (numbered(old), numbered(new));
        self.forget_numbers(old);
        self.forget_numbers(new);
        let mut diff = Diff::default();
        diff.compute_with(Algorithm::Histogram, &before, &after, count);
        for (line, at) in old.iter().zip(0..) {
            self.old[line.at as usize] = !diff.is_removed(at);
        }
        for (line, at) in new.iter().zip(0..) {
            self.new[line.at as usize] = !diff.is_added(at);
        }
    }

    fn forget_numbers(&mut self, lines: &[Line]) {
        lines.iter().for_each(|line| self.numbers[line.token.0 as usize] = UNNUMBERED);
    }

    /// Moves each hunk to the lines where it reads best. The search for the next change on the other side may reach far, so a few hunks
    /// are moved at a time, with only some of the common lines around them.
    fn slide_hunks<L: AsRef<[u8]>>(&mut self, input: &InternedInput<L>) {
        let hunks: Vec<Hunk> = diff_of(&self.old, &self.new).hunks().collect();
        let ends = self.old.len() - hunks.last().map_or(0, |hunk| hunk.before.end as usize);
        let common_before =
            |at: usize| match (at.checked_sub(1).map(|at| &hunks[at]), hunks.get(at)) {
                (None, None) => 0,
                (None, Some(first)) => first.before.start as usize,
                (Some(before), Some(hunk)) => (hunk.before.start - before.before.end) as usize,
                (Some(_), None) => ends,
            };
        let mut first = 0;
        while first < hunks.len() {
            let mut last = first;
            let max_piece = self.max_piece;
            let start = &hunks[first];
            let is_near = |hunk: &&Hunk| {
                (hunk.before.end - start.before.start + hunk.after.end - start.after.start) as usize
                    <= max_piece
            };
            while hunks.get(last + 1).as_ref().is_some_and(is_near) {
                last += 1;
            }
            // Take half of the common lines. The other half belongs to the hunks on the other side of them.
            let above = (common_before(first) / 2).min(MAX_SLIDE);
            let below = (common_before(last + 1) / 2).min(MAX_SLIDE);
            let around = |start: u32, end: u32| start as usize - above..end as usize + below;
            let old = around(start.before.start, hunks[last].before.end);
            let new = around(start.after.start, hunks[last].after.end);
            self.slide(input, &old, &new);
            first = last + 1;
        }
    }

    fn slide<L: AsRef<[u8]>>(
        &mut self,
        input: &InternedInput<L>,
        old: &Range<usize>,
        new: &Range<usize>,
    ) {
        let mut diff = diff_of(&self.old[old.clone()], &self.new[new.clone()]);
        let indent =
            |token| IndentLevel::for_ascii_line(input.interner[token].as_ref().iter().copied(), 8);
        let (before, after) = (&input.before[old.clone()], &input.after[new.clone()]);
        diff.postprocess_with(before, after, IndentHeuristic::new(indent));
        for (is_common, at) in self.old[old.clone()].iter_mut().zip(0..) {
            *is_common = !diff.is_removed(at);
        }
        for (is_common, at) in self.new[new.clone()].iter_mut().zip(0..) {
            *is_common = !diff.is_added(at);
        }
    }

    #[cfg_attr(not(test), allow(clippy::unused_self, reason = "counts in tests only"))]
    fn note(&mut self, _lines: usize) {
        #[cfg(test)]
        {
            self.looked_at += _lines;
        }
    }
}

/// A diff in which these lines are common. A `Diff` can only be made by comparing, so this compares lines that leave no choice:
/// a common line occurs once on each side, and any other line on its own side only.
fn diff_of(old: &[bool], new: &[bool]) -> Diff {
    const REMOVED: Token = Token(0);
    const ADDED: Token = Token(1);
    let lines = |is_common: &[bool], other: Token| -> Vec<Token> {
        let mut next = 2..;
        let line = |&is_common: &bool| {
            if is_common { next.next().map_or(other, Token) } else { other }
        };
        is_common.iter().map(line).collect()
    };
    let (before, after) = (lines(old, REMOVED), lines(new, ADDED));
    let mut diff = Diff::default();
    let tokens = before.len().max(after.len()).saturating_add(2);
    diff.compute_with(Algorithm::Myers, &before, &after, u32::try_from(tokens).unwrap_or(u32::MAX));
    diff
}

/// Pairs of positions with the same line, increasing on both sides. Longer runs of lines are tried until there are enough
/// pairs.
fn anchors(old: &[Line], new: &[Line], enough: usize) -> Vec<(usize, usize)> {
    let tokens = |lines: &[Line]| -> Vec<Token> { lines.iter().map(|line| line.token).collect() };
    let (old, new) = (tokens(old), tokens(new));
    let mut best = Vec::new();
    for run in RUNS {
        let found = increasing(&unique_in_both(&old, &new, run));
        if found.len() > best.len() {
            best = found;
        }
        if best.len() >= enough {
            break;
        }
    }
    best
}

/// The start positions of the runs of this length that occur once on each side, in the order of the old side.
fn unique_in_both(old: &[Token], new: &[Token], run: usize) -> Vec<(usize, usize)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Occurrence {
        Nowhere,
        Once(usize),
        Several,
    }
    impl Occurrence {
        fn and(self, at: usize) -> Self {
            if self == Self::Nowhere { Self::Once(at) } else { Self::Several }
        }
    }
    let mut places: HashMap<&[Token], [Occurrence; 2]> = HashMap::new();
    for (lines, at) in old.windows(run).zip(0..) {
        let place = places.entry(lines).or_insert([Occurrence::Nowhere; 2]);
        place[0] = place[0].and(at);
    }
    for (lines, at) in new.windows(run).zip(0..) {
        if let Some(place) = places.get_mut(lines) {
            place[1] = place[1].and(at);
        }
    }
    let pair = |lines| match places.get(lines) {
        Some([Occurrence::Once(old), Occurrence::Once(new)]) => Some((*old, *new)),
        _ => None,
    };
    old.windows(run).filter_map(pair).collect()
}

/// The longest sequence of these pairs that increases on both sides. The pairs already increase on the first side.
fn increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the number of the last pair of the chain that ends earliest on the second side.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::new();
    for (number, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = number,
            None => ends.push(number),
        }
    }
    let mut chain: Vec<_> =
        std::iter::successors(ends.last().copied(), |&number| before[number]).collect();
    chain.reverse();
    chain.into_iter().map(|number| pairs[number]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The common lines, which are the same on both sides.
    fn common(old: &str, new: &str, max_piece: usize) -> Vec<String> {
        let input = InternedInput::new(old, new);
        let mut alignment = Alignment::of(&input, max_piece);
        let side = |lines: &str, is_common: &[bool]| -> Vec<String> {
            let lines = lines.split_inclusive('\n').zip(is_common);
            lines.filter(|(_, is_common)| **is_common).map(|(line, _)| line.to_owned()).collect()
        };
        assert_eq!(side(old, &alignment.old), side(new, &alignment.new));
        let count = side(old, &alignment.old).len();
        alignment.slide_hunks(&input);
        let (old, new) = (side(old, &alignment.old), side(new, &alignment.new));
        assert_eq!(old, new);
        assert_eq!(old.len(), count);
        old
    }

    /// The text that each shape gives a line by its number, on the old side and on the new side.
    type Shape = (&'static str, fn(usize) -> String, fn(usize) -> String);

    /// A pseudo-random number that is the same in each run.
    fn noise(seed: usize) -> usize {
        let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        usize::try_from((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33).unwrap()
    }

    const SHAPES: [Shape; 17] = [
        ("equal", |n| n.to_string(), |n| n.to_string()),
        ("all changed", |n| n.to_string(), |n| format!("new {n}")),
        (
            "every second changed",
            |n| n.to_string(),
            |n| if n % 2 == 0 { n.to_string() } else { format!("new {n}") },
        ),
        (
            "few common",
            |n| n.to_string(),
            |n| if n % 999 == 0 { n.to_string() } else { format!("new {n}") },
        ),
        ("swapped", |n| n.to_string(), |n| (n ^ 1).to_string()),
        ("swapped blocks", |n| n.to_string(), |n| (n ^ 64).to_string()),
        ("shuffled", |n| (n * 1_919 % 4_001).to_string(), |n| (n * 2_999 % 4_001).to_string()),
        ("reversed", |n| n.to_string(), |n| (4_000 - n).to_string()),
        (
            "one line and new ones",
            |_| "same".into(),
            |n| if n % 2 == 0 { "same".into() } else { format!("{n}") },
        ),
        (
            "one line between others",
            |n| if n % 2 == 0 { "same".into() } else { format!("{n}") },
            |n| if n % 2 == 0 { "same".into() } else { format!("new {n}") },
        ),
        (
            "blank lines",
            |n| if n % 3 == 0 { n.to_string() } else { String::new() },
            |n| if n % 3 == 0 { (n / 2).to_string() } else { String::new() },
        ),
        (
            "periodic",
            |n| (n % 7).to_string(),
            |n| if n % 5 == 0 { "x".into() } else { (n % 13).to_string() },
        ),
        ("random of 2", |n| (noise(n) % 2).to_string(), |n| (noise(n + 200_000) % 2).to_string()),
        (
            "random of 60",
            |n| (noise(n) % 60).to_string(),
            |n| (noise(n + 200_000) % 60).to_string(),
        ),
        (
            "edited of 8",
            |n| (noise(n) % 8).to_string(),
            |n| if n % 50 == 0 { "x".into() } else { (noise(n) % 8).to_string() },
        ),
        ("each twice, swapped", |n| (n % 2000).to_string(), |n| ((n ^ 1) % 2000).to_string()),
        ("each thirty times, swapped", |n| (n % 100).to_string(), |n| ((n ^ 1) % 100).to_string()),
    ];

    fn text(lines: usize, of: fn(usize) -> String) -> String {
        (0..lines).map(|number| of(number) + "\n").collect()
    }

    #[test]
    fn the_work_for_a_line_does_not_grow_with_the_number_of_lines() {
        for (name, old, new) in SHAPES {
            for lines in [1_000, 4_000] {
                let (old, new) = (text(lines, old), text(lines, new));
                let input = InternedInput::new(old.as_str(), new.as_str());
                let looked_at = Alignment::of(&input, 64).looked_at;
                // Once in each round, and in a piece as often as the piece has lines.
                let most = 2 * lines * (MAX_ROUNDS + 64);
                assert!(looked_at <= most, "{name}, {lines} lines: {looked_at}");
            }
        }
    }

    #[test]
    fn every_shape_is_aligned_at_every_size_of_pieces() {
        for (name, old, new) in SHAPES {
            let (old, new) = (text(1_200, old), text(1_200, new));
            for max_piece in [8, 64, 2048] {
                let common = common(&old, &new, max_piece).len();
                match name {
                    "equal" => assert_eq!(common, 1_200),
                    "every second changed" | "swapped" => assert_eq!(common, 600, "{name}"),
                    "all changed" => assert_eq!(common, 0),
                    // The best possible value is 1,176.
                    "edited of 8" => assert!(common > 1_000, "{common} of {name}"),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn pairs_increase_on_both_sides_and_are_as_many_as_can_be() {
        assert_eq!(increasing(&[]), []);
        assert_eq!(increasing(&[(0, 3), (1, 0), (2, 1), (3, 4), (4, 2)]), [(1, 0), (2, 1), (4, 2)]);
    }

    proptest! {
        #![proptest_config(memdir_test_support::effort::cases(300))]

        #[test]
        fn common_lines_are_the_same_on_both_sides(
            old in "([a-c]\n){0,60}", new in "([a-c]\n){0,60}", max_piece in 4..40_usize,
        ) {
            common(&old, &new, max_piece);
        }

        #[test]
        fn an_edit_leaves_most_lines_common(
            old in prop::collection::vec(0..30_u8, 50..150), at in any::<prop::sample::Index>(), max_piece in 8..40_usize,
        ) {
            let text = |lines: &[u8]| -> String { lines.iter().map(|line| format!("{line}\n")).collect() };
            let mut new = old.clone();
            new.insert(at.index(old.len()), 99);
            prop_assert_eq!(common(&text(&old), &text(&new), max_piece).len(), old.len());
        }
    }
}
