//! [`Draft`]: a text in a private temporary file, and the user's editor for it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Failure;
use super::style::escaped;

/// The maximum length of the name of the temporary file, in bytes.
const LONGEST_NAME: usize = 100;

/// A text that is being edited. No other user of this machine can read it.
pub(super) struct Draft {
    /// A directory for this draft only, because editors write other files beside it.
    directory: PathBuf,
    file: PathBuf,
}

impl Draft {
    /// A draft of the text. Its file name is based on `name`, because editors use the extension, but has only characters that every
    /// system accepts.
    pub(super) fn new(name: &str, text: &str) -> Result<Self, Failure> {
        let failed = |error: io::Error| {
            Failure::Usage(format!(
                "no temporary file can be created for the editor in {}: {error}",
                env::temp_dir().display()
            ))
        };
        let mut number = [0; 8];
        getrandom::fill(&mut number).map_err(|error| failed(io::Error::other(error)))?;
        let unique = format!("memdir-edit-{:016x}", u64::from_ne_bytes(number));
        let directory = env::temp_dir().join(unique);
        #[cfg_attr(not(unix), expect(unused_mut, reason = "modes are Unix's"))]
        let mut builder = DirBuilder::new();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
            builder.mode(0o700);
            options.mode(0o600);
        }
        builder.create(&directory).map_err(failed)?;
        let draft = Self { file: directory.join(file_name(name)), directory };
        let written =
            options.open(&draft.file).and_then(|mut file| file.write_all(text.as_bytes()));
        if let Err(error) = written {
            draft.remove();
            return Err(failed(error));
        }
        Ok(draft)
    }

    /// The path of the file.
    #[cfg(feature = "page")]
    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    /// Opens the editor, and waits until it is closed. `old` is the text that the file contains.
    pub(super) fn open_in_editor(&self, old: &str) -> Result<(), Failure> {
        let editor = editor();
        let shown = escaped(&editor.to_string_lossy());
        let ended = match command(&editor, &self.file).status() {
            Ok(ended) => ended,
            Err(error) => {
                self.remove_ref();
                return Err(Failure::Usage(format!(
                    "the editor {shown} cannot be started: {error}: set VISUAL or EDITOR"
                )));
            }
        };
        if ended.success() {
            return Ok(());
        }
        // The exit code of a shell for a command that was not found.
        if ended.code() == Some(127) {
            self.remove_ref();
            return Err(Failure::Usage(format!(
                "the editor {shown} cannot be started: set VISUAL or EDITOR"
            )));
        }
        let mut sentence = format!("nothing was changed, as the editor ended with {ended}");
        if fs::read(&self.file).is_ok_and(|text| text == old.as_bytes()) {
            self.remove_ref();
        } else {
            sentence += &format!(". Your text is in {}", self.keep());
        }
        Err(Failure::Refused(sentence))
    }

    /// The text that the editor saved.
    pub(super) fn text(&self) -> Result<String, Failure> {
        let kept = self.keep();
        let read = fs::read(&self.file).map_err(|error| {
            Failure::Refused(format!("nothing was changed, as {kept} cannot be read: {error}"))
        })?;
        String::from_utf8(read).map_err(|_| {
            Failure::Refused(format!(
                "nothing was changed, as the text is not UTF-8 any more. It is in {kept}: convert it, and write it with `memdir put`"
            ))
        })
    }

    /// The path of the file for an error message. The file is kept.
    pub(super) fn keep(&self) -> String {
        escaped(&self.file.to_string_lossy())
    }

    /// Removes the file, and the files that the editor left beside it.
    pub(super) fn remove(self) {
        self.remove_ref();
    }

    fn remove_ref(&self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// A file name that every system accepts, with the extension of the given name.
fn file_name(name: &str) -> String {
    let keeps = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String = name.chars().map(|c| if keeps(c) { c } else { '_' }).collect();
    let mut start = name.len().saturating_sub(LONGEST_NAME);
    while !name.is_char_boundary(start) {
        start += 1;
    }
    // A name that begins with a period is hidden, and Windows drops a period at the end.
    format!("memory-{}", name[start..].trim_end_matches('.'))
}

/// The editor that the user set, or an installed one.
fn editor() -> OsString {
    let set = |name| env::var_os(name).filter(|editor: &OsString| !editor.is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| {
        let defaults: &[&str] = if cfg!(windows) { &["notepad"] } else { &["vi", "nano"] };
        let path = env::var_os("PATH").unwrap_or_default();
        let is_there =
            |name: &&&str| env::split_paths(&path).any(|directory| directory.join(name).is_file());
        defaults.iter().find(is_there).unwrap_or(&defaults[0]).into()
    })
}

/// The command that opens the file in the editor. The editor may have arguments, as in `code --wait`, which the shell parses.
#[cfg(not(windows))]
fn command(editor: &OsStr, file: &Path) -> Command {
    let mut line = editor.to_owned();
    line.push(" \"$@\"");
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).arg("memdir").arg(file);
    command
}

/// As on other systems, but the arguments are split at spaces. A program whose path has spaces must be in quotation marks.
#[cfg(windows)]
fn command(editor: &OsStr, file: &Path) -> Command {
    let line = editor.to_string_lossy();
    let line = line.trim();
    let (program, arguments) = match line.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
        Some((program, arguments)) => (program, arguments),
        None if Path::new(line).is_file() => (line, ""),
        None => line.split_once(' ').unwrap_or((line, "")),
    };
    let mut command = Command::new(program);
    command.args(arguments.split_whitespace()).arg(file);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_draft_is_harmless_and_has_the_extension() {
        assert_eq!(file_name("notes.md"), "memory-notes.md");
        assert_eq!(file_name("-x \u{202e}:a?.PY"), "memory--x___a_.PY");
        assert_eq!(file_name("été."), "memory-été");
        let long = format!("{}.md", "é".repeat(120));
        assert!(file_name(&long).len() < 120 && file_name(&long).ends_with("é.md"));
    }

    #[test]
    fn nobody_else_can_read_a_draft() {
        let draft = Draft::new("a.md", "text").unwrap();
        assert_eq!(fs::read_to_string(&draft.file).unwrap(), "text");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&draft.directory), mode(&draft.file)), (0o700, 0o600));
        }
        let directory = draft.directory.clone();
        draft.remove();
        assert!(!directory.exists());
    }
}
