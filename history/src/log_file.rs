//! [`LogFile`]: the journal of a local directory, one file that records are appended to.
//!
//! It stands beside the directory of the files, out of the reach of commands: `./memory/history/log` beside
//! `./memory/memories`. Each append opens the file again ([`log_writer`](super::log_writer)), so nothing is kept between
//! commands, as with the files. What a kill leaves of a record at the end is skipped: a reader looks for the next
//! record's first bytes.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use memdir_store::HistoryId;
use memdir_store::{Context, Durability, StoreError};

use super::journal::{Appended, Flush, Journal, Loaded, Rewrite, Stored};
use super::log_writer::{LogWriter, flush_directory, private};
use super::record::{Header, PREFIX, Prefix, Record, next_magic};

/// How much is read at a time.
const WINDOW: usize = 256 * 1024;
/// How many of the first bytes tell one file from another: the first record's prefix, with its checks.
const BEGINNING: usize = PREFIX;

pub(super) struct LogFile {
    directory: PathBuf,
    durability: Durability,
    /// Whether the last flush took long.
    is_slow: AtomicBool,
}

impl LogFile {
    pub(super) fn new(directory: PathBuf, durability: Durability) -> Self {
        Self { directory, durability, is_slow: AtomicBool::new(false) }
    }

    fn log(&self) -> PathBuf {
        self.directory.join("log")
    }

    fn failed(operation: &'static str) -> impl Fn(std::io::Error) -> StoreError {
        move |error| match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::Full,
            ErrorKind::PermissionDenied => StoreError::PermissionDenied,
            ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly,
            _ => StoreError::failed(operation, error).unchanged(),
        }
    }

    fn writer(&self) -> Result<LogWriter, StoreError> {
        let writer = LogWriter::shared(&self.directory, self.durability);
        writer.map_err(Self::failed("writing the history"))
    }

    /// Flushes the log. If that is slow, as on a disk, another thread does it while the store flushes the content.
    fn flush(
        &self,
        context: &Context,
        writer: &Arc<LogWriter>,
        flush: Flush,
    ) -> Result<(), StoreError> {
        /// What takes longer is worth a thread.
        const SLOW: Duration = Duration::from_micros(150);
        let failed = Self::failed("writing the history");
        if self.durability != Durability::Full {
            return Ok(());
        }
        if flush == Flush::Beside && self.is_slow.load(Ordering::Relaxed) {
            let beside = Arc::clone(writer);
            let thread = thread::Builder::new().name("memdir-history".to_owned());
            if let Ok(flushing) = thread.spawn(move || beside.flush()) {
                context.put_wait(Box::new(move || {
                    let broken = |_| Err(std::io::Error::other("a thread broke off"));
                    flushing.join().unwrap_or_else(broken).map_err(failed)
                }));
                return Ok(());
            }
        }
        let begun = Instant::now();
        writer.flush().map_err(failed)?;
        self.is_slow.store(begun.elapsed() > SLOW, Ordering::Relaxed);
        Ok(())
    }
}

/// Reads a file record by record.
struct Reader {
    file: File,
    /// Where in the file the window begins.
    start: u64,
    window: Vec<u8>,
    /// How many bytes the file had when reading began.
    len: u64,
}

impl Reader {
    /// The bytes at a place, at most as many as the file has.
    fn bytes(&mut self, at: u64, count: usize) -> std::io::Result<&[u8]> {
        let available = usize::try_from(self.len.saturating_sub(at)).unwrap_or(usize::MAX);
        let count = count.min(available);
        let from = at.checked_sub(self.start).and_then(|from| usize::try_from(from).ok());
        let held =
            from.filter(|from| from.checked_add(count).is_some_and(|end| end <= self.window.len()));
        let from = match held {
            Some(from) => from,
            None => {
                self.window.resize(count.max(WINDOW.min(available)), 0);
                self.file.seek(SeekFrom::Start(at))?;
                self.file.read_exact(&mut self.window)?;
                self.start = at;
                0
            }
        };
        Ok(&self.window[from..from + count])
    }

    /// The header of the record at a place; `Ok(None)` if there is none that is whole.
    fn header(&mut self, at: u64) -> std::io::Result<Option<(Header, u64)>> {
        let Ok(prefix) = Prefix::read(self.bytes(at, PREFIX)?) else { return Ok(None) };
        if prefix.record_len() > self.len - at {
            return Ok(None);
        }
        let header = self.bytes(at + PREFIX as u64, prefix.header)?;
        Ok(prefix.header(header).ok().map(|header| (header, prefix.record_len())))
    }

    /// Where the next record may begin after a damaged one; the file's end if there is none.
    fn next(&mut self, mut at: u64) -> std::io::Result<u64> {
        while at < self.len {
            let bytes = self.bytes(at, WINDOW)?;
            let count = bytes.len() as u64;
            match next_magic(bytes) {
                Some(found) => return Ok(at + found as u64),
                // The four bytes may stand on both sides of the window's end.
                None if count > 4 && at + count < self.len => at += count - 4,
                None => break,
            }
        }
        Ok(self.len)
    }
}

impl Journal for LogFile {
    fn append(
        &self,
        context: &Context,
        record: &Record,
        flush: Flush,
    ) -> Result<Appended, StoreError> {
        let (writer, bytes) = (Arc::new(self.writer()?), record.to_bytes());
        let at = writer.append(&bytes).map_err(Self::failed("writing the history"))?;
        self.flush(context, &writer, flush)?;
        Ok(Appended { at: Some(at), len: bytes.len() as u64, file: Some(writer) })
    }

    fn confirm(&self, id: HistoryId, appended: &mut Appended) -> bool {
        let Some(writer) = appended.file.take() else { return false };
        let Ok(noted) = HistoryId::new() else { return false };
        let mut record = Record::new(noted, id, None);
        record.header.confirms.push(id);
        writer.append(&record.to_bytes()).is_ok()
    }

    fn withdraw(&self, _: &Context, id: HistoryId) -> Result<(), StoreError> {
        let mut record = Record::new(HistoryId::new()?, id, None);
        record.header.withdraws.push(id);
        // A loss of power brings back the record; that the change was not made is then seen by the file.
        let written = self.writer()?.append(&record.to_bytes());
        written.map(drop).map_err(Self::failed("writing the history"))
    }

    fn load(&self, _: &Context, loaded: &mut Loaded) -> Result<(), StoreError> {
        let failed = Self::failed("reading the history");
        let file = match File::open(self.log()) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if loaded.end > 0 {
                    loaded.start_anew();
                }
                return Ok(());
            }
            opened => opened.map_err(&failed)?,
        };
        let len = file.metadata().map_err(&failed)?.len();
        if len == loaded.end && len == 0 {
            return Ok(());
        }
        let mut reader = Reader { file, start: 0, window: Vec::new(), len };
        // Not through the window, which is for what follows.
        let mut beginning = vec![0; BEGINNING.min(usize::try_from(len).unwrap_or(BEGINNING))];
        reader.file.read_exact(&mut beginning).map_err(&failed)?;
        if beginning != loaded.beginning || len < loaded.end {
            if !loaded.beginning.is_empty() {
                loaded.start_anew();
            }
            loaded.beginning = beginning;
        }
        let mut at = loaded.end;
        while at < len {
            match reader.header(at).map_err(&failed)? {
                Some((header, record_len)) => {
                    loaded.add(header, at, record_len);
                    at += record_len;
                    loaded.end = at;
                }
                None => {
                    let next = reader.next(at).map_err(&failed)?;
                    // At the end it may be a record that is just being written.
                    if next == len {
                        break;
                    }
                    loaded.damaged.push(format!("{} bytes at {at} are no record", next - at));
                    at = next;
                    loaded.end = at;
                }
            }
        }
        Ok(())
    }

    fn read(&self, _: &Context, stored: &Stored) -> Result<Record, StoreError> {
        let failed = Self::failed("reading the history");
        let mut file = File::open(self.log()).map_err(&failed)?;
        file.seek(SeekFrom::Start(stored.at)).map_err(&failed)?;
        let mut bytes = vec![0; usize::try_from(stored.len).unwrap_or(0)];
        file.read_exact(&mut bytes).map_err(&failed)?;
        let damaged = |error| StoreError::failed("reading the history", error).unchanged();
        let record = Record::from_bytes(&bytes).map_err(damaged)?;
        if record.header.id != stored.header.id {
            return Err(damaged(super::record::Damaged));
        }
        Ok(record)
    }

    fn rewrite(&self, change: &mut Rewrite<'_>) -> Result<(), StoreError> {
        let failed = Self::failed("rewriting the history");
        let _alone = LogWriter::alone(&self.directory, self.durability).map_err(&failed)?;
        let mut loaded = Loaded::default();
        self.load(&Context::new(), &mut loaded)?;
        let (new, log) = (self.directory.join("log.new"), self.log());
        let mut options = OpenOptions::new();
        let file = private(options.write(true).create(true).truncate(true)).open(&new);
        let mut file = file.map_err(&failed)?;
        let write =
            |file: &mut File, record: &Record| file.write_all(&record.to_bytes()).map_err(&failed);
        // By this record, readers see that it is another file.
        let id = HistoryId::new()?;
        let mut begin = Record::new(id, id, None);
        begin.header.withdraws.push(id);
        let rewritten = write(&mut file, &begin).and_then(|()| {
            for stored in &loaded.records {
                if loaded.withdrawn.contains(&stored.header.id) {
                    continue;
                }
                // What is damaged is left out: it cannot be read anyway, and may hold what is to be removed.
                let Ok(record) = self.read(&Context::new(), stored) else { continue };
                if let Some(mut record) = change(record)? {
                    // It stands for itself from now on: the notes about it are left out.
                    if loaded.confirmed.contains(&stored.header.id) {
                        record.header.confirms.push(stored.header.id);
                    }
                    write(&mut file, &record)?;
                }
            }
            file.sync_all().map_err(&failed)
        });
        let placed = rewritten.and_then(|()| fs::rename(&new, &log).map_err(&failed));
        if let Err(error) = placed {
            let _ = fs::remove_file(&new);
            return Err(error.unchanged());
        }
        flush_directory(&self.directory, self.durability).map_err(&failed)
    }

    fn is_apart(&self) -> bool {
        true
    }

    fn is_cheap_to_follow(&self) -> bool {
        true
    }
}
