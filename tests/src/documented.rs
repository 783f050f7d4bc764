//! The sentences that the tool's documentation specifies, verbatim.

/// A sentence that the documentation specifies for a command.
#[derive(Debug)]
pub struct Documented {
    /// The command that replies with it.
    pub command: &'static str,
    /// Whether it is an error.
    pub is_error: bool,
    /// The whole reply; `{…}` stands for any text.
    pub template: &'static str,
}

const fn success(command: &'static str, template: &'static str) -> Documented {
    Documented { command, is_error: false, template }
}

const fn error(command: &'static str, template: &'static str) -> Documented {
    Documented { command, is_error: true, template }
}

/// Every sentence, in the order of the documentation.
pub const SENTENCES: &[Documented] = &[
    success(
        "view",
        "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items \
         and node_modules:\n{size}\t{path}\n{size}\t{path}/{filename1}\n{size}\t{path}/{filename2}",
    ),
    success(
        "view",
        "Here's the content of {path} with line numbers:\n     1\t{content}\n     2\t{content}",
    ),
    error("view", "File {path} exceeds maximum line limit of 999,999 lines."),
    error("view", "The path {path} does not exist. Please provide a valid path."),
    success("create", "File created successfully at: {path}"),
    error("create", "Error: File {path} already exists"),
    success("str_replace", "The memory file has been edited.{snippet}\n     1\t{content}"),
    error("str_replace", "Error: The path {path} does not exist. Please provide a valid path."),
    error(
        "str_replace",
        "No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.",
    ),
    error(
        "str_replace",
        "No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: \
         {line_numbers}. Please ensure it is unique",
    ),
    success("insert", "The file {path} has been edited."),
    error("insert", "Error: The path {path} does not exist"),
    error(
        "insert",
        "Error: Invalid `insert_line` parameter: {insert_line}. It should be within the range of \
         lines of the file: [0, {n_lines}]",
    ),
    success("delete", "Successfully deleted {path}"),
    error("delete", "Error: The path {path} does not exist"),
    success("rename", "Successfully renamed {old_path} to {new_path}"),
    error("rename", "Error: The path {old_path} does not exist"),
    error("rename", "Error: The destination {new_path} already exists"),
];

impl Documented {
    /// Whether `content` is this sentence: all of it, with some text for each `{…}`.
    #[must_use]
    pub fn is(&self, content: &str) -> bool {
        let mut fixed = self.template.split('{').enumerate().map(|(at, piece)| match at {
            0 => piece,
            _ => piece.split_once('}').map_or(piece, |(_, after)| after),
        });
        let Some(rest) = fixed.next().and_then(|start| content.strip_prefix(start)) else {
            return false;
        };
        let pieces: Vec<&str> = fixed.collect();
        let Some((last, between)) = pieces.split_last() else { return rest.is_empty() };
        let after = between
            .iter()
            .try_fold(rest, |rest, piece| rest.split_once(piece).map(|(_, after)| after));
        after.is_some_and(|rest| rest.ends_with(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_the_whole_reply() {
        let sentence = error("x", "The path {path} is not {what}.");
        assert!(sentence.is("The path /memories/a is not there."));
        for other in [
            "the path /memories/a is not there.",
            "The path /memories/a is not there",
            "The path /memories/a is there.",
            "Error: The path /memories/a is not there.",
        ] {
            assert!(!sentence.is(other), "{other}");
        }
        assert!(!error("x", "Error: {path} is gone").is("Error: a is gone. Sorry"));
    }
}
