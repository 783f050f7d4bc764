//! The lines of a passage that a ranked search found.

use std::ops::Range;

use memdir::SearchPassage;

/// A line of a passage, with the places of the words in it.
pub(super) struct Line<'p> {
    pub(super) number: u64,
    pub(super) text: &'p str,
    pub(super) matches: Vec<Range<usize>>,
}

/// The lines of a passage.
pub(super) fn lines_of(passage: &SearchPassage) -> impl Iterator<Item = Line<'_>> {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let mut start = 0;
    passage.text.split('\n').zip(passage.first_line..).map(move |(text, number)| {
        let (from, to) = (start, start + text.len());
        start = to + 1;
        // The text of a phrase may continue in the next line.
        let within = passage
            .matches
            .iter()
            .map(|found| place(found.start).max(from)..place(found.end).min(to));
        let matches = within.filter(|within| within.start < within.end);
        let matches = matches.map(|within| within.start - from..within.end - from).collect();
        Line { number, text, matches }
    })
}
