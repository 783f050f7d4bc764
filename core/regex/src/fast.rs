//! A pattern as `regex-automata` executes it. The crate's own translation would read it with Unicode's classes and cases, so
//! this one gives it the meaning that it has in `regex-lite`.

use regex_automata::meta::{Config, Regex};
use regex_automata::util::syntax;
use regex_syntax::ast::{
    Assertion, AssertionKind, Ast, ClassAsciiKind, ClassBracketed, ClassPerl, ClassPerlKind,
    ClassSet, ClassSetItem, Flag, Flags, FlagsItemKind, Group, GroupKind, RepetitionKind,
    RepetitionRange, parse::ParserBuilder,
};
use regex_syntax::hir::{
    Capture, Class, ClassUnicode, ClassUnicodeRange, Dot, Hir, Look, Repetition,
};

/// As deep as `regex-lite` reads groups, and what it makes of one level.
const MAX_DEPTH: u32 = 200;

/// The most memory that a compiled pattern may take, in bytes, and that a search may keep for its automaton.
const MAX_COMPILED_BYTES: usize = 10 << 20;

/// The compiled pattern, or `None` if it is one for `regex-lite`.
pub(super) fn compile(pattern: &str, ignores_case: bool) -> Option<Regex> {
    compile_for(pattern, ignores_case, false)
}

/// A pattern for a whole text, each of whose matches is within a line. It matches in every line in which the pattern itself
/// matches, if the line is searched alone. It may match in more lines: `\r` before the end of a line is optional here.
pub(super) fn compile_for_lines(pattern: &str, ignores_case: bool) -> Option<Regex> {
    compile_for(pattern, ignores_case, true)
}

fn compile_for(pattern: &str, ignores_case: bool, within_lines: bool) -> Option<Regex> {
    let ast = ParserBuilder::new().nest_limit(MAX_DEPTH).build().parse(pattern).ok()?;
    let flags = PatternFlags { ignores_case, ..PatternFlags::default() };
    let hir = Translator { flags, groups: 0, within_lines }.translate(&ast)?;
    let config = Config::new()
        .nfa_size_limit(Some(MAX_COMPILED_BYTES))
        .hybrid_cache_capacity(MAX_COMPILED_BYTES / 4);
    Regex::builder().configure(config).syntax(syntax::Config::new()).build_from_hir(&hir).ok()
}

/// The flags at a place of the pattern.
#[derive(Debug, Clone, Copy, Default)]
struct PatternFlags {
    ignores_case: bool,
    multi_line: bool,
    dot_matches_new_line: bool,
    swap_greed: bool,
    crlf: bool,
}

struct Translator {
    flags: PatternFlags,
    groups: u32,
    /// Whether a match never contains `\n`, and `^` and `$` match at each line.
    within_lines: bool,
}

impl Translator {
    fn translate(&mut self, ast: &Ast) -> Option<Hir> {
        Some(match ast {
            Ast::Empty(_) => Hir::empty(),
            Ast::Flags(set) => {
                self.set(&set.flags)?;
                Hir::empty()
            }
            Ast::Literal(literal) => self.literal(literal.c),
            Ast::Dot(_) => Hir::dot(match (self.flags.dot_matches_new_line, self.flags.crlf) {
                (true, _) if !self.within_lines => Dot::AnyChar,
                (true, _) => Dot::AnyCharExceptLF,
                (false, true) => Dot::AnyCharExceptCRLF,
                (false, false) => Dot::AnyCharExceptLF,
            }),
            Ast::Assertion(assertion) => Hir::look(self.look(assertion)),
            Ast::ClassUnicode(_) => return None,
            Ast::ClassPerl(class) => self.of_class(perl(class)),
            Ast::ClassBracketed(class) => {
                let class = self.class(class)?;
                self.of_class(class)
            }
            Ast::Repetition(repetition) => {
                let sub = Box::new(self.translate(&repetition.ast)?);
                let (min, max) = match &repetition.op.kind {
                    RepetitionKind::ZeroOrOne => (0, Some(1)),
                    RepetitionKind::ZeroOrMore => (0, None),
                    RepetitionKind::OneOrMore => (1, None),
                    RepetitionKind::Range(RepetitionRange::Exactly(n)) => (*n, Some(*n)),
                    RepetitionKind::Range(RepetitionRange::AtLeast(n)) => (*n, None),
                    RepetitionKind::Range(RepetitionRange::Bounded(min, max)) => (*min, Some(*max)),
                };
                let greedy = repetition.greedy != self.flags.swap_greed;
                Hir::repetition(Repetition { min, max, greedy, sub })
            }
            Ast::Group(group) => self.group(group)?,
            Ast::Alternation(alternation) => Hir::alternation(self.all(&alternation.asts)?),
            Ast::Concat(concat) => Hir::concat(self.all(&concat.asts)?),
        })
    }

    fn all(&mut self, asts: &[Ast]) -> Option<Vec<Hir>> {
        asts.iter().map(|ast| self.translate(ast)).collect()
    }

    /// Flags that are set within a group hold up to its end.
    fn group(&mut self, group: &Group) -> Option<Hir> {
        let outer = self.flags;
        let name = match &group.kind {
            GroupKind::NonCapturing(flags) => {
                self.set(flags)?;
                let sub = self.translate(&group.ast);
                self.flags = outer;
                return sub;
            }
            GroupKind::CaptureIndex(_) => None,
            GroupKind::CaptureName { name, .. } => Some(name.name.as_str().into()),
        };
        self.groups += 1;
        let index = self.groups;
        let sub = Box::new(self.translate(&group.ast)?);
        self.flags = outer;
        Some(Hir::capture(Capture { index, name, sub }))
    }

    fn set(&mut self, flags: &Flags) -> Option<()> {
        let mut on = true;
        for item in &flags.items {
            let flag = match item.kind {
                FlagsItemKind::Negation => {
                    on = false;
                    continue;
                }
                FlagsItemKind::Flag(flag) => flag,
            };
            match flag {
                Flag::CaseInsensitive => self.flags.ignores_case = on,
                Flag::MultiLine => self.flags.multi_line = on,
                Flag::DotMatchesNewLine => self.flags.dot_matches_new_line = on,
                Flag::SwapGreed => self.flags.swap_greed = on,
                Flag::CRLF => self.flags.crlf = on,
                // The parser has dealt with the one, and the other means nothing here.
                Flag::IgnoreWhitespace | Flag::Unicode => {}
            }
        }
        Some(())
    }

    fn of_class(&self, mut class: ClassUnicode) -> Hir {
        if self.within_lines {
            class.difference(&of(&[('\n', '\n')], false));
        }
        Hir::class(Class::Unicode(class))
    }

    fn literal(&self, c: char) -> Hir {
        if self.within_lines && c == '\n' {
            return Hir::fail();
        }
        if self.flags.ignores_case && c.is_ascii_alphabetic() {
            let cases = [c.to_ascii_uppercase(), c.to_ascii_lowercase()];
            let ranges = cases.map(|c| ClassUnicodeRange::new(c, c));
            return Hir::class(Class::Unicode(ClassUnicode::new(ranges)));
        }
        Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes())
    }

    fn look(&self, assertion: &Assertion) -> Look {
        let PatternFlags { multi_line, crlf, .. } = self.flags;
        if self.within_lines {
            match assertion.kind {
                AssertionKind::StartLine if multi_line && crlf => return Look::StartCRLF,
                AssertionKind::StartLine | AssertionKind::StartText => return Look::StartLF,
                AssertionKind::EndLine | AssertionKind::EndText => return Look::EndCRLF,
                _ => {}
            }
        }
        match assertion.kind {
            AssertionKind::StartLine if multi_line && crlf => Look::StartCRLF,
            AssertionKind::StartLine if multi_line => Look::StartLF,
            AssertionKind::EndLine if multi_line && crlf => Look::EndCRLF,
            AssertionKind::EndLine if multi_line => Look::EndLF,
            AssertionKind::StartLine | AssertionKind::StartText => Look::Start,
            AssertionKind::EndLine | AssertionKind::EndText => Look::End,
            AssertionKind::WordBoundary => Look::WordAscii,
            AssertionKind::NotWordBoundary => Look::WordAsciiNegate,
            AssertionKind::WordBoundaryStart | AssertionKind::WordBoundaryStartAngle => {
                Look::WordStartAscii
            }
            AssertionKind::WordBoundaryEnd | AssertionKind::WordBoundaryEndAngle => {
                Look::WordEndAscii
            }
            AssertionKind::WordBoundaryStartHalf => Look::WordStartHalfAscii,
            AssertionKind::WordBoundaryEndHalf => Look::WordEndHalfAscii,
        }
    }

    fn class(&self, bracketed: &ClassBracketed) -> Option<ClassUnicode> {
        let ClassSet::Item(item) = &bracketed.kind else { return None };
        let mut class = ClassUnicode::empty();
        add(&mut class, item)?;
        if self.flags.ignores_case {
            fold_ascii(&mut class)?;
        }
        if bracketed.negated {
            class.negate();
        }
        Some(class)
    }
}

fn add(class: &mut ClassUnicode, item: &ClassSetItem) -> Option<()> {
    match item {
        ClassSetItem::Empty(_) => {}
        ClassSetItem::Literal(literal) => class.push(ClassUnicodeRange::new(literal.c, literal.c)),
        ClassSetItem::Range(range) => {
            class.push(ClassUnicodeRange::new(range.start.c, range.end.c));
        }
        ClassSetItem::Ascii(ascii) => class.union(&of(posix(&ascii.kind), ascii.negated)),
        ClassSetItem::Perl(one) => class.union(&perl(one)),
        ClassSetItem::Union(union) => union.items.iter().try_for_each(|item| add(class, item))?,
        ClassSetItem::Unicode(_) | ClassSetItem::Bracketed(_) => return None,
    }
    Some(())
}

fn of(ranges: &[(char, char)], negated: bool) -> ClassUnicode {
    let ranges = ranges.iter().map(|&(start, end)| ClassUnicodeRange::new(start, end));
    let mut class = ClassUnicode::new(ranges);
    if negated {
        class.negate();
    }
    class
}

fn perl(class: &ClassPerl) -> ClassUnicode {
    let ranges: &[(char, char)] = match class.kind {
        ClassPerlKind::Digit => &[('0', '9')],
        ClassPerlKind::Space => &[('\t', '\r'), (' ', ' ')],
        ClassPerlKind::Word => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
    };
    of(ranges, class.negated)
}

fn posix(kind: &ClassAsciiKind) -> &'static [(char, char)] {
    match kind {
        ClassAsciiKind::Alnum => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        ClassAsciiKind::Alpha => &[('A', 'Z'), ('a', 'z')],
        ClassAsciiKind::Ascii => &[('\0', '\x7f')],
        ClassAsciiKind::Blank => &[('\t', '\t'), (' ', ' ')],
        ClassAsciiKind::Cntrl => &[('\0', '\x1f'), ('\x7f', '\x7f')],
        ClassAsciiKind::Digit => &[('0', '9')],
        ClassAsciiKind::Graph => &[('!', '~')],
        ClassAsciiKind::Lower => &[('a', 'z')],
        ClassAsciiKind::Print => &[(' ', '~')],
        ClassAsciiKind::Punct => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        ClassAsciiKind::Space => &[('\t', '\r'), (' ', ' ')],
        ClassAsciiKind::Upper => &[('A', 'Z')],
        ClassAsciiKind::Word => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        ClassAsciiKind::Xdigit => &[('0', '9'), ('A', 'F'), ('a', 'f')],
    }
}

/// Adds the other case of each ASCII letter. `regex-lite` folds a range over letters of both cases in a way of its own, so
/// such a class is left to it.
fn fold_ascii(class: &mut ClassUnicode) -> Option<()> {
    let both = |range: &ClassUnicodeRange, first: char, last: char| {
        let (start, end) = (range.start().max(first), range.end().min(last));
        (start <= end).then_some((start, end))
    };
    let mut added = Vec::new();
    for range in class.ranges() {
        match (both(range, 'A', 'Z'), both(range, 'a', 'z')) {
            (Some(_), Some(_)) => return None,
            (Some((start, end)), None) => {
                added.push((start.to_ascii_lowercase(), end.to_ascii_lowercase()));
            }
            (None, Some((start, end))) => {
                added.push((start.to_ascii_uppercase(), end.to_ascii_uppercase()));
            }
            (None, None) => {}
        }
    }
    class.union(&of(&added, false));
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::compile;
    use crate::Regex;

    /// The first match and its first group, from each place on, by both engines.
    fn assert_same(pattern: &str, ignores_case: bool, text: &str) {
        let Ok(both) = Regex::builder().ignore_case(ignores_case).build(pattern) else { return };
        let lite = Regex { fast: None, for_lines: None, ..both.clone() };
        assert_eq!(both.find(text), lite.find(text), "{pattern:?} in {text:?}");
        for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
            let (both, lite) = (both.find_at(text, at), lite.find_at(text, at));
            assert_eq!(both, lite, "{pattern:?} in {text:?} from {at}");
        }
        assert_no_match_is_skipped(pattern, ignores_case, text, &lite);
    }

    fn assert_no_match_is_skipped(pattern: &str, ignores_case: bool, text: &str, lite: &Regex) {
        let builder = Regex::builder().ignore_case(ignores_case).skip_lines(true);
        let skipping = builder.build(pattern).unwrap();
        let mut starts = vec![0];
        for line in text.split_inclusive('\n') {
            let start = starts.last().copied().unwrap_or_default();
            let alone = line.strip_suffix('\n').unwrap_or(line);
            let end = start + alone.len();
            if lite.find(alone.strip_suffix('\r').unwrap_or(alone)).is_some() {
                for from in starts.drain(..) {
                    let found = skipping.skip_lines(text, from);
                    let is_not_skipped = found.is_some_and(|at| (from..=end).contains(&at));
                    assert!(is_not_skipped, "{pattern:?} in {text:?} from {from}: {found:?}");
                }
            }
            starts.push(start + line.len());
        }
    }

    const TEXTS: [&str; 10] = [
        "",
        "likes tea",
        "TEA, Tea; tea_2: 12.50",
        "é É ß ſ K k S s",
        "a\tb\u{a0}c\u{b}d",
        "line\r\nnext\nlast\r",
        "\u{661}\u{662} 42",
        "aaaaab aab ab",
        "x = {\"key\": [1, 2]}",
        "日本語 – «quoted» 🙂",
    ];

    #[test]
    fn both_engines_give_a_pattern_the_same_meaning() {
        let patterns = [
            r"tea",
            r"\bt\w+",
            r"\w+$",
            r"^\W",
            r"\d+",
            r"\D+",
            r"\s",
            r"\S+",
            r".",
            r"(?s).+",
            r"(?m)^\w+$",
            r"(?mR)^\w*$",
            r"(?R).+",
            r"(?i)k",
            r"(?i)[k-s]+",
            r"(?i)[^k]",
            r"(?i)é",
            r"(?i:TEA)x?|Tea",
            r"a(?i)T|E",
            r"(a)|(b)",
            r"(?:(a+)|(b))+",
            r"(?P<name>a+)b",
            r"(?<name>a*?)b",
            r"a{2}",
            r"a{2,}",
            r"a{2,3}?",
            r"(?U)a+",
            r"(?U)a+?",
            r"[[:alpha:]]+",
            r"[[:^alpha:]]+",
            r"[[:punct:]]",
            r"[\w.]+",
            r"[^\w\s]+",
            r"[\W]",
            r"(?i)[\W]",
            r"(?i)[Y-b]",
            r"(?i)[\D]",
            r"[]a]",
            r"[^]a]",
            r"[-a]",
            r"[a\-z]",
            r"\x41",
            r"\u00e9",
            r"\x{1f642}",
            r"\n",
            r"\r\n",
            r"\Aa",
            r"d\z",
            r"\B.",
            r"\b{start}\w",
            r"\w\b{end}",
            r"\b{start-half}.",
            r".\b{end-half}",
            r"(?x) t e # comment
            a",
            r"(?x)[ t e ]",
            r"",
            r"|a",
            r"a|",
            r"()",
            r"(?:)",
            r"x*",
            r"(a*)*",
            r"(a|ab)(c|bcd)?",
            r"\.",
            r"\$",
            r"[.]",
            r"日.語",
            r"[ぁ-ん一-龠]+",
            r"[^\x00-\x7f]",
            r"(?u)\w",
            r"(?-u)\w",
            r"\t",
            r"\v",
            r"\f",
            r"(?i-s:a.)",
            r"\pL",
        ];
        for pattern in patterns {
            for text in TEXTS {
                assert_same(pattern, false, text);
                assert_same(pattern, true, text);
            }
        }
        // Of these, a few are left to `regex-lite`.
        let fast = patterns.iter().filter(|pattern| compile(pattern, false).is_some()).count();
        assert!(fast >= patterns.len() - 3, "{fast} of {}", patterns.len());
    }

    const PIECES: [&str; 44] = [
        "a",
        "B",
        "é",
        "k",
        "K",
        "s",
        "ſ",
        ".",
        "\\w",
        "\\W",
        "\\d",
        "\\D",
        "\\s",
        "\\S",
        "\\b",
        "\\B",
        "^",
        "$",
        "|",
        "(",
        ")",
        "(?:",
        "(?i)",
        "(?i:",
        "(?s)",
        "(?m)",
        "(?R)",
        "(?U)",
        "(?-i)",
        "*",
        "+",
        "?",
        "{2}",
        "{1,}",
        "[a-k]",
        "[^a]",
        "[\\w-]",
        "[K-s]",
        "[^\\W]",
        "[[:^lower:]]",
        " ",
        "\\n",
        "\\r",
        "\\x61",
    ];

    proptest! {
        #![proptest_config(memdir_test_support::effort::cases(1000))]

        #[test]
        fn both_engines_find_the_same(
            pattern in prop::collection::vec(select(&PIECES), 1..8), text in "[aAbBkK sſéé\n\r1_]{0,8}", ignores_case in any::<bool>(),
        ) {
            assert_same(&pattern.concat(), ignores_case, &text);
        }
    }
}
