//! `memdir search`: prints the files that answer a question, with their best passages.

use std::ops::Range;

use serde_json::json;

use super::file_arguments::SearchArguments;
use super::output::{Output, count, time};
use super::style::Style;
use super::{Ended, Failure, history, say, stores};
use memdir::{Error, MemoryOptions, SearchHit, SearchPassage};

pub(super) fn run(wanted: &SearchArguments, output: &mut Output) -> Result<Ended, Failure> {
    let path = stores::path(&wanted.path)?;
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory =
        history::with_history_if_any(argument.readable()?, &argument, argument.options().clone())?;
    let query = wanted.words.join(" ");
    let limit = usize::try_from(wanted.limit).unwrap_or(usize::MAX);
    let results = match memory.search(&query, path.as_str(), limit) {
        // As with grep, exit code 1 means that nothing was found.
        Err(error @ Error::Refused(_)) => {
            let failure = argument.error_in(&**memory.store(), &path, &error);
            return Err(match failure {
                Failure::Refused(sentence) => Failure::Usage(sentence),
                failure => failure,
            });
        }
        results => results.map_err(|error| argument.error(&error))?,
    };
    for (number, hit) in results.hits.iter().enumerate() {
        if output.json {
            output.object(&as_json(hit))?;
        } else {
            if number > 0 {
                output.line("")?;
            }
            print(hit, output)?;
        }
    }
    if results.files_left_out > 0 {
        output.flush()?;
        let files = count(results.files_left_out, "file was", "files were");
        say(&format!("{files} not searched: the memory for the index is used up"));
    }
    Ok(if results.hits.is_empty() { Ended::WithProblems } else { Ended::Well })
}

fn as_json(hit: &SearchHit) -> serde_json::Value {
    let passages: Vec<_> = hit.passages.iter().map(|passage| json!(passage)).collect();
    json!({
        "type": "hit", "path": hit.path.as_str(), "score": hit.score, "modified": time(hit.modified),
        "passages": passages,
    })
}

/// Prints the path of a file, then its passages in the order of their lines.
fn print(hit: &SearchHit, output: &mut Output) -> Result<(), Failure> {
    output.pieces(&[(Style::Path, hit.path.as_str())])?;
    let mut passages: Vec<&SearchPassage> = hit.passages.iter().collect();
    passages.sort_by_key(|passage| passage.first_line);
    for (number, passage) in passages.into_iter().enumerate() {
        if number > 0 {
            output.pieces(&[(Style::Moved, "--")])?;
        }
        let mut start = 0;
        for (line, number) in passage.text.split('\n').zip(passage.first_line..) {
            let number = number.to_string();
            let mut pieces = vec![(Style::Number, number.as_str()), (Style::Moved, ":")];
            pieces.extend(highlighted(passage, start..start + line.trim_end_matches('\r').len()));
            output.pieces(&pieces)?;
            start += line.len() + 1;
        }
    }
    Ok(())
}

/// The pieces of a line of a passage, with the words of the question highlighted.
fn highlighted(passage: &SearchPassage, line: Range<usize>) -> Vec<(Style, &str)> {
    let text = |range: Range<usize>| passage.text.get(range).unwrap_or_default();
    let (mut pieces, mut at) = (Vec::new(), line.start);
    for place in &passage.matches {
        let [start, end] = [place.start, place.end]
            .map(|place| usize::try_from(place).unwrap_or(usize::MAX).clamp(at, line.end));
        if start < end {
            pieces.extend([(Style::Plain, text(at..start)), (Style::Match, text(start..end))]);
            at = end;
        }
    }
    pieces.push((Style::Plain, text(at..line.end)));
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}
