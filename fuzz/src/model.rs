//! A model of the commands' replies and effects on a text, as simple as possible: with lines in a list.

/// The lines of a content, and whether the last one has a line ending.
pub(crate) fn lines(content: &str) -> (Vec<&str>, bool) {
    let mut lines: Vec<&str> = content.split('\n').collect();
    let ended = lines.last() == Some(&"");
    if ended {
        lines.pop();
    }
    (lines, ended)
}

/// The content after `insert`; the error is the number of lines.
pub(crate) fn inserted(content: &str, after: i64, text: &str) -> Result<String, usize> {
    let (mut all, ended) = lines(content);
    let after = usize::try_from(after).ok().filter(|after| *after <= all.len()).ok_or(all.len())?;
    let new: Vec<&str> = text.strip_suffix('\n').unwrap_or(text).split('\n').collect();
    all.splice(after..after, new);
    Ok(all.join("\n") + if ended { "\n" } else { "" })
}

/// The positions where `old` begins, including overlapping occurrences.
pub(crate) fn occurrences(content: &str, old: &str) -> Vec<usize> {
    content.char_indices().map(|(at, _)| at).filter(|at| content[*at..].starts_with(old)).collect()
}

/// The number of the line at a position, counted from 1.
pub(crate) fn line_at(content: &str, at: usize) -> usize {
    1 + content[..at].matches('\n').count()
}

/// Numbered lines below a header, up to a limit of characters. `end` is the last requested line, if it
/// is not the last line of the file.
pub(crate) fn numbered(
    header: &str,
    all: &[&str],
    (first, last): (usize, usize),
    total: usize,
    end: Option<usize>,
    limit: Option<usize>,
) -> String {
    let mut shown = header.to_owned();
    let next = |last: usize| match end {
        Some(end) => format!("[{}, {end}]", last + 1),
        None => format!("[{}, -1]", last + 1),
    };
    for number in first..=last {
        let line = format!("\n{number:>6}\t{}", all[number - 1]);
        let fits = limit.is_none_or(|limit| shown.chars().count() + line.chars().count() <= limit);
        if fits {
            shown += &line;
        } else if number > first {
            return shown
                + &format!(
                    "\n[Lines {first} to {} of {total} are shown: the view reached its limit of characters. \
                     To go on, view with view_range {}.]",
                    number - 1,
                    next(number - 1)
                );
        } else {
            let room = limit.unwrap_or(0).saturating_sub(header.chars().count() + 8);
            let start: String = all[number - 1].chars().take(room).collect();
            let more = if number < end.unwrap_or(total) {
                format!(" To go on with the next line, view with view_range {}.", next(number))
            } else {
                String::new()
            };
            return format!(
                "{header}\n{number:>6}\t{start}\n[Line {number} of {total} is longer than a view may be: only its \
                 first {} characters are shown.{more}]",
                start.chars().count()
            );
        }
    }
    shown
}

/// The reply to a view of a file; an error if the range is wrong.
pub(crate) fn view(
    path: &str,
    content: &str,
    range: Option<(i64, i64)>,
    limit: Option<usize>,
) -> Result<String, String> {
    let (all, _) = lines(content);
    let total = all.len();
    let header = format!("Here's the content of {path} with line numbers:");
    let (first, last) = range.unwrap_or((1, -1));
    let valid = if total == 0 {
        first == 1
    } else {
        first >= 1 && first <= total as i64 && (last == -1 || last >= first)
    };
    if !valid {
        let which = match total {
            0 => "The file is empty: leave view_range out.".to_owned(),
            1 => "The file has one line: it should be [1, 1] or [1, -1].".to_owned(),
            _ => format!(
                "It should be two integers [start, end] with start within [1, {total}] and end not before start, \
                 or -1 for the end of the file."
            ),
        };
        return Err(format!("Error: Invalid `view_range` parameter: [{first}, {last}]. {which}"));
    }
    let end = usize::try_from(last).ok().filter(|last| *last < total);
    Ok(numbered(&header, &all, (first as usize, end.unwrap_or(total)), total, end, limit))
}

/// The reply to `str_replace`, and the content after it.
pub(crate) fn replaced(
    path: &str,
    content: &str,
    old: &str,
    new: &str,
    limit: Option<usize>,
) -> Result<(String, String), String> {
    if old.is_empty() {
        return Err("Error: Invalid `old_str` parameter: it is empty. Give the text to replace, exactly as it stands in \
                    the file."
            .to_owned());
    }
    let found = occurrences(content, old);
    let [at] = found[..] else {
        if found.is_empty() {
            return Err(format!(
                "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            ));
        }
        let mut lines: Vec<usize> = found.iter().map(|at| line_at(content, *at)).collect();
        lines.dedup();
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        return Err(format!(
            "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {}. Please ensure it is unique",
            lines.join(", ")
        ));
    };
    let after = [&content[..at], new, &content[at + old.len()..]].concat();
    // The lines with the new text, or the line from which the old one was removed.
    let first = line_at(&after, at);
    let last = if new.is_empty() {
        first
    } else {
        line_at(&after, at + new.len() - new.chars().next_back().unwrap().len_utf8())
    };
    let (all, _) = lines(&after);
    let (from, to) = (first.saturating_sub(2).max(1), (last + 2).min(all.len()));
    let header = "The memory file has been edited. Here is the snippet showing the change (with line numbers):";
    let end = Some(to).filter(|_| from <= to);
    Ok((numbered(header, &all, (from, to), all.len(), end, limit), after))
}
