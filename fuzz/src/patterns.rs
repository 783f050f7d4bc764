//! Patterns of paths: matching compared with a second, naive implementation.

use memdir::MemoryPath;
use memdir::policy::PathPattern;

/// Longer inputs cost more time than they are worth.
const MOST: usize = 400;

/// The input is a pattern, and after the last line break a path.
pub fn patterns(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (text, path) = text.rsplit_once('\n').unwrap_or((&text, "/memories/a/b.md"));
    if text.len() > MOST || path.len() > MOST {
        return;
    }
    let path =
        MemoryPath::parse(path).unwrap_or_else(|_| MemoryPath::parse("/memories/a/b.md").unwrap());
    let parsed = text.parse::<PathPattern>();
    if let Ok(pattern) = &parsed {
        assert_eq!(pattern.as_str().parse::<PathPattern>().as_ref().ok(), Some(pattern));
        assert_eq!(pattern.to_string(), pattern.as_str());
        let alternatives = expanded(pattern.as_str());
        let fits = alternatives.iter().any(|one| naive(one, &path));
        assert_eq!(pattern.matches(&path), fits, "{text:?} {path}");
        assert!(
            !fits || pattern.clone().folding_case(true).matches(&path) || text.contains('['),
            "{text:?} {path}"
        );
        // A pattern that matches a directory matches everything below it.
        if let Ok(below) = path.join("below") {
            assert!(!fits || pattern.matches(&below), "{text:?} {below}");
        }
    }

    // Every path, when escaped, is a pattern that matches itself and everything below it.
    let escaped: String = path
        .as_str()
        .chars()
        .flat_map(|c| ["\\", ""][usize::from(!"*?[]{},!".contains(c))].chars().chain([c]))
        .collect();
    let itself: PathPattern = escaped.parse().unwrap();
    assert!(itself.matches(&path), "{escaped}");
    if let Ok(beside) = MemoryPath::parse(&format!("{path}x")) {
        assert!(!itself.matches(&beside), "{escaped}");
    }
    let plain = !text.contains(['*', '?', '[', '{', '\\']);
    if let (true, Ok(plain)) = (plain, MemoryPath::parse(text)) {
        assert!(parsed.is_ok_and(|pattern| pattern.matches(&plain)), "{text:?}");
    }
}

/// A character of a pattern other than a slash or brace: its kind, and for brackets their characters.
#[derive(Clone, Debug, PartialEq)]
enum Symbol {
    Plain(char),
    One,
    Star,
    Class(bool, Vec<(char, char)>),
    Slash,
}

/// The alternatives of a valid pattern.
fn expanded(pattern: &str) -> Vec<Vec<Symbol>> {
    let chars: Vec<char> = pattern.strip_prefix("/memories").unwrap().chars().collect();
    let mut at = 0;
    let all = alternatives(&chars, &mut at, 0);
    assert_eq!(at, chars.len());
    all
}

/// Parses recursively up to the end, or to the closing brace.
fn alternatives(chars: &[char], at: &mut usize, depth: usize) -> Vec<Vec<Symbol>> {
    let mut done = Vec::new();
    let mut current = vec![Vec::new()];
    while *at < chars.len() {
        let c = chars[*at];
        *at += 1;
        let symbol = match c {
            '{' => {
                let inner = alternatives(chars, at, depth + 1);
                current = current
                    .iter()
                    .flat_map(|start: &Vec<Symbol>| {
                        inner.iter().map(move |end| [&start[..], end].concat())
                    })
                    .collect();
                continue;
            }
            ',' if depth > 0 => {
                done.append(&mut current);
                current = vec![Vec::new()];
                continue;
            }
            '}' if depth > 0 => break,
            '/' => Symbol::Slash,
            '*' => Symbol::Star,
            '?' => Symbol::One,
            '\\' => {
                *at += 1;
                Symbol::Plain(chars[*at - 1])
            }
            '[' => {
                let negated = matches!(chars[*at], '!' | '^');
                *at += usize::from(negated);
                let mut ranges = Vec::new();
                let one = |at: &mut usize| {
                    *at += 1 + usize::from(chars[*at] == '\\');
                    chars[*at - 1]
                };
                while ranges.is_empty() || chars[*at] != ']' {
                    let first = one(at);
                    let mut last = first;
                    if chars[*at] == '-' && chars[*at + 1] != ']' {
                        *at += 1;
                        last = one(at);
                    }
                    ranges.push((first, last));
                }
                *at += 1;
                Symbol::Class(negated, ranges)
            }
            c => Symbol::Plain(c),
        };
        current.iter_mut().for_each(|pattern: &mut Vec<Symbol>| pattern.push(symbol.clone()));
    }
    done.append(&mut current);
    done
}

fn naive(pattern: &[Symbol], path: &MemoryPath) -> bool {
    let names: Vec<Vec<char>> = path.names().map(|name| name.chars().collect()).collect();
    let mut segments: Vec<&[Symbol]> = pattern
        .split(|symbol| *symbol == Symbol::Slash)
        .filter(|segment| !segment.is_empty() && **segment != [Symbol::Plain('.')])
        .collect();
    segments.dedup_by(|a, b| is_any(a) && is_any(b));
    // A whole prefix of the path must match; `**` at the end matches at least one name.
    (0..=names.len()).any(|end| fits_names(&segments, &names[..end]))
}

fn is_any(segment: &[Symbol]) -> bool {
    segment == [Symbol::Star, Symbol::Star]
}

/// Whether the segments match exactly these names, by a table of all ends of both.
fn fits_names(segments: &[&[Symbol]], names: &[Vec<char>]) -> bool {
    let (rows, columns) = (segments.len(), names.len());
    let mut fits = vec![vec![false; columns + 1]; rows + 1];
    fits[rows][columns] = true;
    for s in (0..rows).rev() {
        for n in (0..=columns).rev() {
            fits[s][n] = if is_any(segments[s]) {
                let least = usize::from(s + 1 == rows);
                (n + least..=columns).any(|rest| fits[s + 1][rest])
            } else {
                n < columns && fits[s + 1][n + 1] && fits_name(segments[s], &names[n])
            };
        }
    }
    fits[0][0]
}

fn fits_name(symbols: &[Symbol], name: &[char]) -> bool {
    let (rows, columns) = (symbols.len(), name.len());
    let mut fits = vec![vec![false; columns + 1]; rows + 1];
    fits[rows][columns] = true;
    for s in (0..rows).rev() {
        for n in (0..=columns).rev() {
            fits[s][n] = match &symbols[s] {
                Symbol::Star => (n..=columns).any(|rest| fits[s + 1][rest]),
                _ if n == columns => false,
                symbol => fits[s + 1][n + 1] && fits_char(symbol, name[n]),
            };
        }
    }
    fits[0][0]
}

fn fits_char(symbol: &Symbol, c: char) -> bool {
    match symbol {
        Symbol::Plain(plain) => *plain == c,
        Symbol::Class(negated, ranges) => {
            ranges.iter().any(|(first, last)| *first <= c && c <= *last) != *negated
        }
        Symbol::One | Symbol::Star | Symbol::Slash => true,
    }
}
