//! Standard output, and the formats of sizes, times and counts.

use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::thread;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use serde_json::{Value, json};

use super::Failure;
use super::style::{self, Escaping, Style};
use memdir::text::rfc3339;

/// Standard output; with `--json`, one object per line.
pub(super) struct Output {
    stream: BufWriter<Patient<Stdout>>,
    pub(super) json: bool,
    is_terminal: bool,
    colors: bool,
}

impl Output {
    pub(super) fn new(json: bool) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let stream = BufWriter::new(Patient(io::stdout()));
        Self { stream, json, is_terminal, colors: is_terminal && style::are_wanted() }
    }

    /// The raw stream, for output that another program reads.
    pub(super) fn stream(&mut self) -> &mut impl Write {
        &mut self.stream
    }

    /// Writes the content of a file: unchanged bytes, but on a terminal without control characters.
    pub(super) fn content(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if !self.is_terminal {
            return write(&mut self.stream);
        }
        let mut escaping = Escaping::new(&mut self.stream);
        write(&mut escaping)?;
        Ok(escaping.finish()?)
    }

    /// Writes a unified diff. On a terminal it has colours and no control characters. Elsewhere, such as in a file for `patch`,
    /// it is unchanged.
    pub(super) fn diff(&mut self, diff: &str) -> Result<(), Failure> {
        if self.is_terminal {
            let shown = style::painted_diff(diff, self.colors);
            return Ok(self.stream.write_all(shown.as_bytes())?);
        }
        Ok(self.stream.write_all(diff.as_bytes())?)
    }

    /// Writes a line, without control characters on a terminal.
    pub(super) fn line(&mut self, line: &str) -> Result<(), Failure> {
        self.pieces(&[(Style::Plain, line)])
    }

    /// Writes a line of several pieces, with their styles on a terminal.
    pub(super) fn pieces(&mut self, pieces: &[(Style, &str)]) -> Result<(), Failure> {
        if self.is_terminal {
            return Ok(writeln!(self.stream, "{}", style::painted(pieces, self.colors))?);
        }
        for (_, piece) in pieces {
            self.stream.write_all(piece.as_bytes())?;
        }
        Ok(self.stream.write_all(b"\n")?)
    }

    /// Writes a line about a change of a file.
    pub(super) fn changed(&mut self, operation: &str, path: &str) -> Result<(), Failure> {
        let style = Style::of_operation(operation);
        let rest = format!("  {path}");
        self.pieces(&[(style, &format!("{operation:<8}")), (Style::Plain, &rest)])
    }

    /// The same for one file, with support for `--json`.
    pub(super) fn file(
        &mut self,
        operation: &str,
        path: &str,
        old_path: Option<&str>,
    ) -> Result<(), Failure> {
        if self.json {
            return self.object(&json!({
                "type": "file", "operation": operation, "path": path, "old_path": old_path,
            }));
        }
        let from = old_path.map(|old| format!(" from {old}")).unwrap_or_default();
        self.changed(operation, &format!("{path}{from}"))
    }

    /// Writes a result with its type and further fields.
    pub(super) fn result(
        &mut self,
        kind: &str,
        result: &impl Serialize,
        more: Value,
    ) -> Result<(), Failure> {
        let mut object = json!({ "type": kind });
        for part in [serde_json::to_value(result).unwrap_or_default(), more] {
            if let (Value::Object(object), Value::Object(fields)) = (&mut object, part) {
                object.extend(fields);
            }
        }
        self.object(&object)
    }

    pub(super) fn object(&mut self, object: &Value) -> Result<(), Failure> {
        Ok(writeln!(self.stream, "{}", style::escaped_json(&object.to_string()))?)
    }

    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.stream.flush()?)
    }
}

/// A writer that waits until the other end is ready.
///
/// If another program has made a shared pipe non-blocking, as Node does, the operating system does not
/// wait.
struct Patient<W>(W);

impl<W: Write> Patient<W> {
    fn wait_for<T>(&mut self, mut done: impl FnMut(&mut W) -> io::Result<T>) -> io::Result<T> {
        loop {
            match done(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    thread::sleep(Duration::from_millis(1));
                }
                result => return result,
            }
        }
    }
}

impl<W: Write> Write for Patient<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait_for(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.wait_for(Write::flush)
    }
}

/// A time in RFC 3339, or null.
pub(super) fn time(time: Option<SystemTime>) -> Value {
    json!(time.map(rfc3339))
}

/// The age in a suitable unit: `45s`, `12m`, `30h`, `9d`, `3y`; `-` if unknown.
pub(super) fn age(now: SystemTime, time: Option<SystemTime>) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    const YEAR: u64 = 365 * DAY;
    let Some(time) = time else { return "-".to_owned() };
    // A time in the future counts as now.
    let seconds = now.duration_since(time).unwrap_or_default().as_secs();
    let (unit, sign) = match seconds {
        0..MINUTE => (1, "s"),
        MINUTE..HOUR => (MINUTE, "m"),
        HOUR..172_800 => (HOUR, "h"),
        172_800..63_072_000 => (DAY, "d"),
        _ => (YEAR, "y"),
    };
    format!("{}{sign}", seconds / unit)
}

/// The message that nothing was done because something is in the way. `what` is text such as `was copied`.
pub(super) fn in_the_way(what: &str, paths: u64, overwriting_helps: bool) -> String {
    let (paths, them) = if paths == 1 {
        ("1 path is".to_owned(), "it")
    } else {
        (format!("{paths} paths are"), "them")
    };
    let advice = if overwriting_helps {
        format!(": --overwrite would replace {them}")
    } else {
        format!(": rename {them} first, with `memdir mv`")
    };
    format!("nothing {what}, as {paths} in the way{advice}")
}

/// `1 file`, `2 files`.
pub(super) fn count(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_one_unit() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000);
        let shown = |seconds| age(now, Some(now - Duration::from_secs(seconds)));
        for (seconds, age) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (3599, "59m"),
            (3600, "1h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (729 * 86_400, "729d"),
            (730 * 86_400, "2y"),
        ] {
            assert_eq!(shown(seconds), age, "{seconds}");
        }
        assert_eq!(age(now, Some(now + Duration::from_secs(5))), "0s");
        assert_eq!(age(now, None), "-");
    }

    #[test]
    fn output_waits_for_a_pipe_that_does_not_block() {
        struct Slow(Vec<u8>, usize);
        impl Write for Slow {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.1 += 1;
                if !self.1.is_multiple_of(3) {
                    return Err(io::ErrorKind::WouldBlock.into());
                }
                self.0.extend_from_slice(&bytes[..1]);
                Ok(1)
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut slow = Patient(Slow(Vec::new(), 0));
        slow.write_all(b"all of it").unwrap();
        slow.flush().unwrap();
        assert_eq!(slow.0.0, b"all of it");
    }
}
