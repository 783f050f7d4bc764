//! Glob patterns over the names of a path. They are compiled once and match characters. The time to match is at
//! most proportional to the length of the pattern times the length of the path.
//!
//! The common glob crates match bytes, and cannot ignore case as file systems do.

/// A pattern, with braces expanded into alternatives. A path matches if it matches one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glob(Vec<Vec<Segment>>);

/// The pattern for one name of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    /// `**`: any number of names.
    Any,
    Name(Vec<Token>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Literal(char),
    /// `?`
    One,
    /// `*`
    Star,
    /// `[a-z]`, `[!a-z]`
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
    },
}

/// The most alternatives; far more than a pattern written by hand has.
const MAX_ALTERNATIVES: usize = 1000;

impl Glob {
    /// Compiles the part of a pattern below the root.
    pub(super) fn compile(pattern: &str) -> Result<Self, String> {
        let alternatives = expand(&lex(pattern)?)?;
        let several = alternatives.len() > 1;
        let compiled: Vec<_> =
            alternatives.iter().map(|symbols| segments(symbols)).collect::<Result<_, _>>()?;
        if several && compiled.iter().any(Vec::is_empty) {
            return Err("with an empty alternative it would name /memories itself".to_owned());
        }
        Ok(Self(compiled))
    }

    /// Returns whether the pattern matches the path with these names, or a directory above that path.
    pub(super) fn matches(&self, names: &[&str], folds_case: bool) -> bool {
        self.0.iter().any(|segments| match segments.as_slice() {
            // A pattern for everything below a directory does not match the directory.
            [directory @ .., Segment::Any] => names
                .split_last()
                .is_some_and(|(_, above)| fits_start(directory, above, folds_case)),
            segments => fits_start(segments, names, folds_case),
        })
    }

    /// Returns the same pattern. If it matches everything below a directory, it now also matches the directory.
    pub(super) fn with_directory(mut self) -> Self {
        for segments in &mut self.0 {
            segments.pop_if(|last| *last == Segment::Any);
        }
        self
    }
}

/// A symbol of a pattern.
#[derive(Debug, Clone)]
enum Symbol {
    Token(Token),
    Slash,
    Open,
    Comma,
    Close,
}

fn lex(pattern: &str) -> Result<Vec<Symbol>, String> {
    let mut symbols = Vec::new();
    let mut depth = 0_usize;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        symbols.push(match c {
            '/' => Symbol::Slash,
            '*' => Symbol::Token(Token::Star),
            '?' => Symbol::Token(Token::One),
            '[' => Symbol::Token(class(&mut chars)?),
            '\\' => Symbol::Token(Token::Literal(chars.next().ok_or("it ends with a backslash")?)),
            '{' => {
                depth += 1;
                Symbol::Open
            }
            ',' if depth > 0 => Symbol::Comma,
            '}' if depth > 0 => {
                depth -= 1;
                Symbol::Close
            }
            c => Symbol::Token(Token::Literal(c)),
        });
    }
    if depth > 0 { Err("a `{` is not closed".to_owned()) } else { Ok(symbols) }
}

/// Parses the class after its `[`.
fn class(chars: &mut std::str::Chars<'_>) -> Result<Token, String> {
    let unclosed = || "a `[` is not closed".to_owned();
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut next = chars.next();
    let negated = matches!(next, Some('!' | '^'));
    if negated {
        next = chars.next();
    }
    loop {
        let first = match next.ok_or_else(unclosed)? {
            ']' if !ranges.is_empty() => return Ok(Token::Class { negated, ranges }),
            '\\' => chars.next().ok_or_else(unclosed)?,
            '/' => return Err("a `/` stands in brackets".to_owned()),
            c => c,
        };
        next = chars.next();
        let mut last = first;
        if next == Some('-') && !chars.as_str().starts_with(']') {
            last = match chars.next().ok_or_else(unclosed)? {
                '\\' => chars.next().ok_or_else(unclosed)?,
                c => c,
            };
            next = chars.next();
        }
        if last < first {
            return Err(format!("the range {first}-{last} is empty"));
        }
        ranges.push((first, last));
    }
}

/// Expands a pattern with braces into patterns without braces.
fn expand(symbols: &[Symbol]) -> Result<Vec<Vec<Symbol>>, String> {
    /// Alternatives up to a brace, of which the last one is being read.
    type Group = (Vec<Vec<Symbol>>, Vec<Vec<Symbol>>);
    let mut outer: Vec<Group> = Vec::new();
    let (mut done, mut current): Group = (Vec::new(), vec![Vec::new()]);
    for symbol in symbols {
        match symbol {
            Symbol::Open => {
                outer.push((std::mem::take(&mut done), std::mem::take(&mut current)));
                current = vec![Vec::new()];
            }
            Symbol::Comma => done.append(&mut std::mem::replace(&mut current, vec![Vec::new()])),
            Symbol::Close => {
                done.append(&mut current);
                let Some((outer_done, before)) = outer.pop() else { break };
                if before.len() * done.len() > MAX_ALTERNATIVES {
                    return Err(format!("it has more than {MAX_ALTERNATIVES} alternatives"));
                }
                let joined = |start: &Vec<Symbol>| {
                    let start = start.clone();
                    done.iter().map(move |end| [&start[..], end].concat()).collect::<Vec<_>>()
                };
                current = before.iter().flat_map(joined).collect();
                done = outer_done;
            }
            symbol => current.iter_mut().for_each(|pattern| pattern.push(symbol.clone())),
        }
    }
    Ok(current)
}

/// Returns the segments of a pattern without braces, in canonical form, as for paths.
fn segments(symbols: &[Symbol]) -> Result<Vec<Segment>, String> {
    let mut segments: Vec<Segment> = Vec::new();
    for name in symbols.split(|symbol| matches!(symbol, Symbol::Slash)) {
        let tokens: Vec<Token> = name
            .iter()
            .filter_map(|symbol| match symbol {
                Symbol::Token(token) => Some(token.clone()),
                _ => None,
            })
            .collect();
        match &*tokens {
            [] | [Token::Literal('.')] => {}
            [Token::Star, Token::Star] => {
                if segments.last() != Some(&Segment::Any) {
                    segments.push(Segment::Any);
                }
            }
            [Token::Literal('.'), Token::Literal('.')] => {
                return Err("no path holds `..`".to_owned());
            }
            tokens => {
                let impossible = |token: &&Token| matches!(token, Token::Literal(c) if c.is_control() || matches!(c, '\\' | '/'));
                if let Some(Token::Literal(c)) = tokens.iter().find(impossible) {
                    return Err(format!("no path holds {c:?}"));
                }
                segments.push(Segment::Name(tokens.to_vec()));
            }
        }
    }
    Ok(segments)
}

/// Returns whether the segments match the first names.
fn fits_start(segments: &[Segment], names: &[&str], folds_case: bool) -> bool {
    // `ends[n]` is true if the segments so far match the first `n` names.
    let mut ends = vec![false; names.len() + 1];
    ends[0] = true;
    for segment in segments {
        match segment {
            Segment::Any => {
                let mut any = false;
                for end in &mut ends {
                    any |= *end;
                    *end = any;
                }
            }
            Segment::Name(tokens) => {
                for at in (0..names.len()).rev() {
                    ends[at + 1] = ends[at] && fits_name(tokens, names[at], folds_case);
                }
                ends[0] = false;
            }
        }
    }
    ends.contains(&true)
}

fn fits_name(tokens: &[Token], name: &str, folds_case: bool) -> bool {
    let name: Vec<char> = name.chars().collect();
    let (mut token, mut at) = (0, 0);
    // The position of the last star, and the characters that it matches. Only the last star can match more.
    let mut star: Option<(usize, usize)> = None;
    loop {
        match (tokens.get(token), name.get(at)) {
            (None, None) => return true,
            (Some(Token::Star), _) => {
                star = Some((token, at));
                token += 1;
            }
            (Some(one), Some(&c)) if fits_char(one, c, folds_case) => {
                token += 1;
                at += 1;
            }
            _ => match &mut star {
                Some((after, taken)) if *taken < name.len() => {
                    *taken += 1;
                    (token, at) = (*after + 1, *taken);
                }
                _ => return false,
            },
        }
    }
}

fn fits_char(token: &Token, c: char, folds_case: bool) -> bool {
    let fits = |c: char| match token {
        Token::Literal(literal) => *literal == c,
        Token::One | Token::Star => true,
        Token::Class { negated, ranges } => {
            ranges.iter().any(|(first, last)| (*first..=*last).contains(&c)) != *negated
        }
    };
    if !folds_case {
        return fits(c);
    }
    match token {
        Token::Literal(literal) => folded(*literal) == folded(c),
        Token::Class { negated: true, .. } => cases(c).into_iter().all(fits),
        _ => cases(c).into_iter().any(fits),
    }
}

/// Returns a character as a case-insensitive file system compares it.
fn folded(c: char) -> char {
    let [_, _, lower] = cases(c);
    lower
}

/// Returns a character, its upper case, and the lower case of that.
fn cases(c: char) -> [char; 3] {
    fn single(mut of: impl ExactSizeIterator<Item = char>, otherwise: char) -> char {
        if of.len() == 1 { of.next().unwrap_or(otherwise) } else { otherwise }
    }
    let upper = single(c.to_uppercase(), c);
    [c, upper, single(upper.to_lowercase(), upper)]
}
