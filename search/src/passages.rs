//! Cuts a text into passages: a short section, a paragraph, a list item.
//!
//! A passage is small enough to answer a question and large enough to be understood. Passages are ranked, so a long file is judged by its
//! best passage. A passage is found by the headings above it, too.

use std::ops::Range;

/// A section up to this size is one passage, in bytes.
const SECTION_BYTES: usize = 300;
/// A shorter block is joined with the next one. It also limits the number of passages of a text.
const LEAST_BYTES: usize = 40;
/// A longer block is cut.
const MOST_BYTES: usize = 800;
/// The headings above a passage that count, from the nearest.
const MOST_HEADINGS: usize = 3;
/// The part of a heading that counts, in bytes.
const HEADING_BYTES: usize = 120;

/// A passage of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cut {
    /// Its place, in bytes. It begins and ends at the boundary of a character, and mostly of a line.
    pub(crate) range: Range<usize>,
    /// The 1-based number of its first line.
    pub(crate) line: u32,
}

/// Calls `found` with each passage, and with the places of the headings above it.
pub(crate) fn passages(text: &str, found: &mut dyn FnMut(Cut, &[Range<usize>])) {
    let mut cutter = Cutter {
        text,
        found,
        above: Vec::new(),
        section: Section::default(),
        fence: None,
        item_indent: None,
        is_open: false,
    };
    let mut start = 0;
    let mut number = 0_u32;
    for line in text.split_inclusive('\n') {
        number = number.saturating_add(1);
        cutter.line(line, start, number);
        start += line.len();
    }
    cutter.end_section();
}

/// The text below a heading, up to the next one. A short one also has further headings.
#[derive(Debug, Default)]
struct Section {
    /// The place of the headings at its beginning, and the line of the first.
    heading: Option<(Range<usize>, u32)>,
    blocks: Vec<Cut>,
}

impl Section {
    fn start(&self) -> Option<usize> {
        let first = self.heading.as_ref().map(|(heading, _)| heading.start);
        first.or_else(|| Some(self.blocks.first()?.range.start))
    }
}

struct Cutter<'t, 'f> {
    text: &'t str,
    found: &'f mut dyn FnMut(Cut, &[Range<usize>]),
    /// The headings of the sections around the current one, with their levels.
    above: Vec<(usize, Range<usize>)>,
    section: Section,
    /// The marks with which a block of code began.
    fence: Option<&'t str>,
    /// The indent of the current list item.
    item_indent: Option<usize>,
    /// Whether the next line continues the last block.
    is_open: bool,
}

impl<'t> Cutter<'t, '_> {
    fn line(&mut self, line: &'t str, start: usize, number: u32) {
        let end = start + line.len();
        let content = line.trim_start_matches([' ', '\t']);
        let indent = line.len() - content.len();
        let content = content.trim_end();
        if let Some(fence) = self.fence {
            if content.starts_with(fence) {
                self.fence = None;
            }
            self.extend(start..end, number);
            return;
        }
        if content.is_empty() {
            self.is_open = false;
            return;
        }
        if let Some(level) = heading_level(content).filter(|_| indent < 4) {
            self.heading(
                level,
                start + indent + level..start + indent + content.len(),
                start..end,
                number,
            );
            return;
        }
        if content.starts_with("```") || content.starts_with("~~~") {
            self.fence = Some(&content[..3]);
        }
        if is_item(content) {
            // An item below another one is told with it, as long as that is short.
            let is_below = self.item_indent.is_some_and(|outer| indent > outer);
            let is_long =
                self.section.blocks.last().is_some_and(|block| block.range.len() > SECTION_BYTES);
            if !is_below || is_long {
                self.is_open = false;
                self.item_indent = Some(indent);
            }
        } else if !self.is_open {
            self.item_indent = None;
        }
        self.extend(start..end, number);
    }

    /// Begins a section, or joins a short one with its own below: a title, or headings without text.
    fn heading(&mut self, level: usize, heading: Range<usize>, line: Range<usize>, number: u32) {
        let begun = self.section.start();
        if begun.is_none_or(|begun| line.start - begun >= LEAST_BYTES) {
            self.end_section();
        }
        self.above.retain(|(other, _)| *other < level);
        self.above.push((level, heading));
        if !self.section.blocks.is_empty() {
            self.is_open = true;
            self.extend(line, number);
        } else if let Some((joined, _)) = &mut self.section.heading {
            joined.end = line.end;
        } else {
            self.section.heading = Some((line, number));
        }
    }

    /// Adds a line to the current block, or begins one.
    fn extend(&mut self, line: Range<usize>, number: u32) {
        let is_open = std::mem::replace(&mut self.is_open, true);
        if let Some(last) = self.section.blocks.last_mut() {
            let size = line.end - last.range.start;
            if (is_open && size <= MOST_BYTES) || last.range.len() < LEAST_BYTES {
                last.range.end = line.end;
                return;
            }
        }
        self.section.blocks.push(Cut { range: line, line: number });
    }

    fn end_section(&mut self) {
        self.is_open = false;
        self.item_indent = None;
        let section = std::mem::take(&mut self.section);
        let start = section.start().unwrap_or(usize::MAX);
        let own = self.above.iter().filter(|(_, heading)| heading.start >= start).count();
        let mut blocks = section.blocks;
        if let Some((heading, line)) = section.heading {
            match blocks.first_mut() {
                // The heading is shown with the first block below it.
                Some(first) => *first = Cut { range: heading.start..first.range.end, line },
                None => blocks.push(Cut { range: heading, line }),
            }
        }
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return };
        if last.range.end - first.range.start <= SECTION_BYTES {
            let whole = Cut { range: first.range.start..last.range.end, line: first.line };
            self.emit(&whole, own);
            return;
        }
        let mut own = own;
        for block in blocks {
            self.emit(&block, own);
            // The further blocks are found by the heading, too.
            own = 0;
        }
    }

    /// A passage, which contains the last `own` headings itself. A long one becomes several.
    fn emit(&mut self, cut: &Cut, own: usize) {
        let others = self.above.len() - own;
        let from = others.saturating_sub(MOST_HEADINGS);
        let headings: Vec<Range<usize>> = self.above[from..others]
            .iter()
            .map(|(_, heading)| {
                heading.start..boundary(self.text, heading.end.min(heading.start + HEADING_BYTES))
            })
            .collect();
        let Range { mut start, end } = cut.range.clone();
        let mut line = cut.line;
        while start < end {
            let to = cut_before(self.text, start, end);
            (self.found)(Cut { range: start..to, line }, &headings);
            let newlines = self.text[start..to].bytes().filter(|byte| *byte == b'\n').count();
            line = line.saturating_add(u32::try_from(newlines).unwrap_or(u32::MAX));
            start = to;
        }
    }
}

/// The end of the next passage of a long block: after a line, else after a word, else after a character.
fn cut_before(text: &str, start: usize, end: usize) -> usize {
    if end - start <= MOST_BYTES {
        return end;
    }
    let most = boundary(text, start + MOST_BYTES);
    let part = &text[start..most];
    let newline = part.rfind('\n').map(|at| at + 1);
    // A line of few spaces is cut at a character, so it does not become many small passages.
    let space = || part.rfind([' ', '\t', '。', '、']).filter(|at| *at >= part.len() / 2);
    newline.or_else(space).map_or(most, |at| start + at)
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The level of a heading: the number of its `#`.
fn heading_level(content: &str) -> Option<usize> {
    let level = content.bytes().take_while(|byte| *byte == b'#').count();
    ((1..=6).contains(&level) && content[level..].starts_with([' ', '\t'])).then_some(level)
}

/// Whether a line begins a list item: `- tea`, `2. tea`.
fn is_item(content: &str) -> bool {
    let digits = content.bytes().take(9).take_while(u8::is_ascii_digit).count();
    let mark = if digits == 0 {
        content.starts_with(['-', '*', '+', '•'])
    } else {
        content[digits..].starts_with(['.', ')'])
    };
    let rest = content[digits..].chars().nth(1);
    mark && rest.is_none_or(|after| after == ' ' || after == '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The passages, each with its line and the headings above it.
    fn cut(text: &str) -> Vec<(u32, &str, Vec<&str>)> {
        let mut all = Vec::new();
        passages(text, &mut |cut, headings| {
            let headings = headings.iter().map(|heading| text[heading.clone()].trim()).collect();
            all.push((cut.line, &text[cut.range], headings));
        });
        all
    }

    #[test]
    fn a_short_section_is_one_passage() {
        let text = "# Anna\n\n- likes green tea\n- lives in Boston\n\n## Dates\nborn in May\n";
        assert_eq!(
            cut(text),
            [
                (1, "# Anna\n\n- likes green tea\n- lives in Boston\n", vec![]),
                (6, "## Dates\nborn in May\n", vec!["Anna"])
            ]
        );
    }

    #[test]
    fn a_short_section_is_joined_with_the_next_one() {
        let text = "# Anna\n\n## Tea\n\nAnna likes tea in the morning, and no milk.\n\n## Work\nEngineer.\n";
        assert_eq!(
            cut(text),
            [
                (1, "# Anna\n\n## Tea\n\nAnna likes tea in the morning, and no milk.\n", vec![]),
                (7, "## Work\nEngineer.\n", vec!["Anna"])
            ]
        );
    }

    #[test]
    fn items_and_paragraphs_of_a_long_section_are_passages() {
        let item = format!("- {}\n", "tea ".repeat(40));
        let text = format!("# Anna\n{item}{item}  - below\n\n{}\n", "A paragraph. ".repeat(10));
        let cut = cut(&text);
        assert_eq!(cut.len(), 3);
        assert_eq!((cut[0].0, cut[0].1), (1, &*format!("# Anna\n{item}")));
        assert_eq!(
            (cut[1].0, cut[1].1, &cut[1].2),
            (3, &*format!("{item}  - below\n"), &vec!["Anna"])
        );
        assert_eq!(cut[2].0, 6);
    }

    #[test]
    fn a_heading_in_code_is_text() {
        let text = "# Shell\n```\n# a comment\n```\n";
        assert_eq!(cut(text).len(), 1);
    }

    #[test]
    fn all_words_are_in_a_passage_of_limited_size() {
        let texts = [
            "x".repeat(5_000),
            "word ".repeat(5_000),
            "- a\n".repeat(2_000),
            "# a\n".repeat(2_000),
            "é".repeat(5_000),
            "a\n\n".repeat(3_000),
            "1. ".repeat(900),
            "```\n".repeat(1_001),
            format!("{}- b\n", "    ".repeat(3_000)),
        ];
        for text in texts {
            let (mut end, mut count) = (0, 0);
            passages(&text, &mut |cut, headings| {
                assert!(cut.range.start >= end && cut.range.len() <= MOST_BYTES);
                assert!(headings.len() <= MOST_HEADINGS);
                assert!(text[end..cut.range.start].trim().is_empty());
                let newlines =
                    text[..cut.range.start].bytes().filter(|byte| *byte == b'\n').count();
                assert_eq!(cut.line as usize, newlines + 1);
                (end, count) = (cut.range.end, count + 1);
            });
            assert!(text[end..].trim().is_empty());
            assert!(
                count <= text.len() / LEAST_BYTES + 1,
                "{count} passages of {} bytes",
                text.len()
            );
        }
    }
}
