//! The table of the commands and their fields, for the decoder and for the schema that a model reads.

/// One field of a command.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// True if the command is valid without the field.
    pub(super) is_optional: bool,
    /// The description of the field for a model.
    pub(super) about: &'static str,
}

/// The type of a field.
pub(super) enum Kind {
    Text,
    /// A whole number from 0.
    Line,
    /// Two whole numbers.
    Range,
    /// A whole number from 1 to [`MOST_FILES`].
    #[cfg(feature = "search")]
    Files,
}

/// The most files in the answer to a search.
#[cfg(feature = "search")]
pub(super) const MOST_FILES: usize = 20;

const fn text(name: &'static str, about: &'static str) -> Field {
    Field { name, kind: Kind::Text, is_optional: false, about }
}

pub(super) const PATH: Field =
    text("path", "The path of the file or directory, such as /memories/notes.md");
pub(super) const FILE_TEXT: Field = text("file_text", "The content of the new file");
pub(super) const OLD_STR: Field = text(
    "old_str",
    "The text to replace. It must occur exactly once in the file, with the same white space",
);
pub(super) const NEW_STR: Field = Field {
    is_optional: true,
    ..text("new_str", "The text to put in its place. Without it the old text is deleted")
};
pub(super) const INSERT_LINE: Field = Field {
    name: "insert_line",
    kind: Kind::Line,
    is_optional: false,
    about: "The number of the line after which to insert. 0 is the start of the file",
};
pub(super) const INSERT_TEXT: Field = text("insert_text", "The lines to insert");
pub(super) const OLD_PATH: Field = text("old_path", "The present path");
pub(super) const NEW_PATH: Field =
    text("new_path", "The new path. Nothing may be there; missing directories are made");
pub(super) const VIEW_RANGE: Field = Field {
    name: "view_range",
    kind: Kind::Range,
    is_optional: true,
    about: "The first and the last line to show, counted from 1. A last line of -1 is the end of the file",
};

/// One command.
pub(super) struct Entry {
    pub(super) name: &'static str,
    /// The description of the command for a model.
    pub(super) about: &'static str,
    /// In the order of the tool's documentation.
    pub(super) fields: &'static [Field],
}

/// The commands, in the order of the tool's documentation.
pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "view",
        about: "Show a directory (two levels deep), or a file with its line numbers",
        fields: &[PATH, VIEW_RANGE],
    },
    Entry { name: "create", about: "Create a new file", fields: &[PATH, FILE_TEXT] },
    Entry {
        name: "str_replace",
        about: "Replace a text in a file",
        fields: &[PATH, OLD_STR, NEW_STR],
    },
    Entry {
        name: "insert",
        about: "Insert lines into a file",
        fields: &[PATH, INSERT_LINE, INSERT_TEXT],
    },
    Entry {
        name: "delete",
        about: "Delete a file, or a directory with everything in it",
        fields: &[PATH],
    },
    Entry {
        name: "rename",
        about: "Rename or move a file or directory",
        fields: &[OLD_PATH, NEW_PATH],
    },
];

/// The search: a tool beside the memory tool, and not one of its commands.
#[cfg(feature = "search")]
pub(super) const SEARCH: Entry = Entry {
    name: "search",
    about: "Finds the memory files that answer a question best, with their best passages. Lines have the numbers that a view shows.",
    fields: &[
        text(
            "query",
            "The question, or its words in any form. \"green tea\" in quotes must occur exactly, -coffee must not occur.",
        ),
        Field {
            is_optional: true,
            ..text(
                "path",
                "A file or directory to search, such as /memories/projects. Everything is searched without it.",
            )
        },
        Field {
            name: "limit",
            kind: Kind::Files,
            is_optional: true,
            about: "The most files to find, from 1 to 20. It is 5 without it.",
        },
    ],
};

/// Returns the names of the commands.
pub(super) const fn names() -> [&'static str; ENTRIES.len()] {
    let mut names = [""; ENTRIES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = ENTRIES[at].name;
        at += 1;
    }
    names
}
