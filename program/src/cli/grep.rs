//! `memdir grep`: searches the names and lines of files.

use std::collections::HashSet;
use std::ops::ControlFlow;

use serde_json::json;

use super::file_arguments::GrepArguments;
use super::output::Output;
use super::stores::{self, StoreArgument};
use super::style::Style;
use super::{Ended, Failure, history};
use memdir::history::HistoryError;
use memdir::path::MemoryPath;
use memdir::text::excerpt;
use memdir::{Error, GrepMatch, GrepQuery, HistoryMatch, Memory, MemoryOptions};

pub(super) fn run(wanted: &GrepArguments, output: &mut Output) -> Result<Ended, Failure> {
    let path = stores::path(&wanted.path)?;
    let query = query(wanted)?;
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory =
        history::with_history_if_any(argument.readable()?, &argument, argument.options().clone())?;
    if wanted.history {
        history::reading(&memory, &argument).map_err(usage)?;
    }
    let around = wanted.context.unwrap_or(0);
    let around = (wanted.before_context.unwrap_or(around), wanted.after_context.unwrap_or(around));
    let mut search = Search {
        query: &query,
        memory: &memory,
        argument: &argument,
        around: (around != (0, 0)).then_some(around),
        paths_only: wanted.files_with_matches,
        left: wanted.limit,
        output,
        last: None,
        paths: HashSet::new(),
        lines: Vec::new(),
        is_first: true,
        found: false,
    };
    let mut failed = None;
    let searched = memory.grep_each(&query, path.as_str(), &mut |found| match search.add(found) {
        Ok(flow) => flow,
        Err(failure) => {
            failed = Some(failure);
            ControlFlow::Break(())
        }
    });
    if let Some(failure) = failed {
        return Err(failure);
    }
    match searched {
        // A path that does not exist now may be in the history.
        Err(Error::Refused(_)) if wanted.history => {}
        // As with grep, exit code 1 means that nothing was found.
        Err(error @ Error::Refused(_)) => {
            return Err(usage(argument.error_in(&**memory.store(), &path, &error)));
        }
        searched => searched.map_err(|error| argument.error(&error))?,
    }
    search.file_ends()?;
    if wanted.history {
        search.history(&path)?;
    }
    Ok(if search.found { Ended::Well } else { Ended::WithProblems })
}

/// Turns a refusal into a usage error, because with grep exit code 1 means that nothing was found.
fn usage(failure: Failure) -> Failure {
    match failure {
        Failure::Refused(sentence) => Failure::Usage(sentence),
        failure => failure,
    }
}

fn query(wanted: &GrepArguments) -> Result<GrepQuery, Failure> {
    let query = match wanted.fixed_strings {
        true => GrepQuery::text(wanted.pattern.as_str()),
        false => GrepQuery::regex(&wanted.pattern).map_err(|error| {
            Failure::Usage(format!("PATTERN is wrong: {error}; -F searches for it as literal text"))
        })?,
    };
    Ok(if wanted.ignore_case { query.ignoring_case() } else { query })
}

struct Search<'s> {
    query: &'s GrepQuery,
    memory: &'s Memory,
    argument: &'s StoreArgument,
    /// The number of lines printed before and after each match, if context was requested.
    around: Option<(usize, usize)>,
    paths_only: bool,
    /// The number of results that may still be printed.
    left: Option<u64>,
    output: &'s mut Output,
    /// The file of the last match.
    last: Option<MemoryPath>,
    /// The paths that were printed with -l.
    paths: HashSet<MemoryPath>,
    /// The matching lines of that file that are not printed yet, because they are printed with context.
    lines: Vec<(u64, String)>,
    /// Whether no match with context was printed yet.
    is_first: bool,
    found: bool,
}

impl Search<'_> {
    fn add(&mut self, found: GrepMatch) -> Result<ControlFlow<()>, Failure> {
        if self.left == Some(0) {
            return Ok(ControlFlow::Break(()));
        }
        self.found = true;
        if self.last.as_ref() != Some(&found.path) {
            self.file_ends()?;
            self.last = Some(found.path.clone());
        } else if self.paths_only {
            return Ok(ControlFlow::Continue(()));
        }
        match found.line {
            _ if self.paths_only => {
                self.path(&found.path)?;
                self.paths.insert(found.path);
            }
            None => self.name(&found.path)?,
            Some(number) if self.around.is_some() => self.lines.push((number, found.text)),
            Some(number) => self.line(&found.path, number, &found.text, true)?,
        }
        self.left = self.left.map(|left| left - 1);
        Ok(if self.left == Some(0) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Prints the matching lines of a file with their context.
    fn file_ends(&mut self) -> Result<(), Failure> {
        let matches = std::mem::take(&mut self.lines);
        let (Some((before, after)), Some(path)) = (self.around, self.last.clone()) else {
            return Ok(());
        };
        if matches.is_empty() {
            return Ok(());
        }
        let text = match self.memory.read(path.as_str()) {
            Ok(text) => text,
            // The file was deleted meanwhile, or only its first lines are text.
            Err(Error::Refused(_)) => String::new(),
            Err(error) => return Err(self.argument.error(&error)),
        };
        let lines: Vec<&str> = text.lines().collect();
        // The next line to print.
        let mut next = 0;
        for (place, (number, found)) in matches.iter().enumerate() {
            let at = index(*number);
            let from = at.saturating_sub(before).max(next);
            if (next == 0 || from > next)
                && !std::mem::take(&mut self.is_first)
                && !self.output.json
            {
                self.output.pieces(&[(Style::Moved, "--")])?;
            }
            for other in from..at {
                self.around(&path, other, &lines)?;
            }
            self.line(&path, *number, found, true)?;
            let until = matches.get(place + 1).map_or(usize::MAX, |(number, _)| index(*number));
            next = at + 1;
            while next < until && next <= at.saturating_add(after) && next < lines.len() {
                self.around(&path, next, &lines)?;
                next += 1;
            }
        }
        Ok(())
    }

    fn around(&mut self, path: &MemoryPath, at: usize, lines: &[&str]) -> Result<(), Failure> {
        match lines.get(at) {
            // Shorten it as a matching line.
            Some(line) => self.line(path, at as u64 + 1, &excerpt(line, 0..0), false),
            None => Ok(()),
        }
    }

    /// Prints the matches that are in the history but no longer in the files.
    fn history(&mut self, path: &MemoryPath) -> Result<(), Failure> {
        let failed = |error: &HistoryError| usage(history::failure(error, self.argument));
        // With -l a path that was found in a file is not printed again, so more matches may be needed.
        let left = self.left.filter(|_| !self.paths_only).unwrap_or(u64::MAX);
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let found = self.memory.grep_history(self.query, path.as_str(), left);
        for past in found.map_err(|error| failed(&error))? {
            let version = &past.version;
            if self.left == Some(0) || (self.paths_only && !self.paths.insert(version.path.clone()))
            {
                continue;
            }
            self.found = true;
            self.left = self.left.map(|left| left - 1);
            if self.paths_only {
                self.path(&version.path)?;
            } else {
                self.past(&past)?;
            }
        }
        Ok(())
    }

    /// Prints a match in the history: the id of the version, then the match as in a file.
    fn past(&mut self, past: &HistoryMatch) -> Result<(), Failure> {
        let (version, path) = (past.version.id, past.version.path.as_str());
        if self.output.json {
            let kind = if past.line.is_some() { "past-line" } else { "past-name" };
            return self.output.object(&json!({
                "type": kind, "version": version, "path": path, "line": past.line, "text": past.text,
            }));
        }
        let (version, number) = (version.to_string(), past.line.map(|line| line.to_string()));
        let mut pieces =
            vec![(Style::Dim, version.as_str()), (Style::Moved, ":"), (Style::Path, path)];
        if let Some(number) = &number {
            pieces.extend([(Style::Moved, ":"), (Style::Number, number), (Style::Moved, ":")]);
            pieces.extend(self.highlighted(&past.text, Style::Plain));
        }
        self.output.pieces(&pieces)
    }

    fn path(&mut self, path: &MemoryPath) -> Result<(), Failure> {
        if self.output.json {
            return self.output.object(&json!({"type": "path", "path": path.as_str()}));
        }
        self.output.pieces(&[(Style::Path, path.as_str())])
    }

    fn name(&mut self, path: &MemoryPath) -> Result<(), Failure> {
        if self.output.json {
            return self.output.object(&json!({"type": "name", "path": path.as_str()}));
        }
        let above = path.as_str().len() - path.name().unwrap_or_default().len();
        let (above, name) = path.as_str().split_at(above);
        let pieces = self.highlighted(name, Style::Path);
        let pieces = pieces.iter().copied();
        self.output.pieces(&[(Style::Path, above)].into_iter().chain(pieces).collect::<Vec<_>>())
    }

    /// Prints a matching line, or a line of its context.
    fn line(
        &mut self,
        path: &MemoryPath,
        number: u64,
        text: &str,
        matches: bool,
    ) -> Result<(), Failure> {
        if self.output.json {
            let kind = if matches { "line" } else { "context" };
            let object = json!({"type": kind, "path": path.as_str(), "line": number, "text": text});
            return self.output.object(&object);
        }
        let (mark, shown) = match matches {
            true => (":", self.highlighted(text, Style::Plain)),
            false => ("-", vec![(Style::Plain, text)]),
        };
        let number = number.to_string();
        let mut pieces = vec![
            (Style::Path, path.as_str()),
            (Style::Moved, mark),
            (Style::Number, number.as_str()),
            (Style::Moved, mark),
        ];
        pieces.extend(shown);
        self.output.pieces(&pieces)
    }

    /// The pieces of a text, with the first match highlighted.
    fn highlighted<'t>(&self, text: &'t str, style: Style) -> Vec<(Style, &'t str)> {
        // If case is ignored, the position may be invalid.
        let at = self.query.find(text).filter(|at| text.get(at.clone()).is_some());
        match at {
            None => vec![(style, text)],
            Some(at) => {
                let (before, rest) = text.split_at(at.start);
                let (found, after) = rest.split_at(at.end - at.start);
                vec![(style, before), (Style::Match, found), (style, after)]
            }
        }
    }
}

/// The index of the line with this number.
fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1)
}
