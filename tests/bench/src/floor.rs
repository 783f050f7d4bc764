//! The six commands with only the system calls that cannot be avoided: the floor of every measurement.
//!
//! It opens the directory once, trusts every path, excludes no other writer, and answers nothing. Its
//! changes are as durable as those of memdir: a content is flushed before it gets its name, and the directory
//! after that. `tests/bench/floor.json` lists the calls of each command with their reasons, and
//! `tests/bench/test_bench.py` compares that list with the calls that it makes.

use std::hint::black_box;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use memdir::command::Command;
use rustix::buffer::spare_capacity;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawDir, RenameFlags, ResolveFlags, StatxFlags, fsync,
    openat, openat2, renameat, renameat_with, statx, unlinkat,
};
use rustix::io::{Errno, read, write};

use crate::Subject;

/// The directory of the memory, open.
pub(crate) struct Floor(OwnedFd);

/// The size of a buffer for one read. The allocator makes no system call for it.
const CHUNK: usize = 64 * 1024;

impl Floor {
    /// Opens the directory that memdir has in `base`.
    pub(crate) fn open(base: &str) -> io::Result<Self> {
        let root = format!("{base}/memories");
        Ok(Self(openat(CWD, root, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
    }

    fn existing(&self, name: &str) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        openat2(&self.0, name, flags, Mode::empty(), beneath)
    }

    /// A file or a directory. Which of them it is shows in the first read.
    fn view(&self, name: &str) -> Result<(), Errno> {
        let opened = self.existing(name)?;
        let mut chunk: Vec<u8> = Vec::with_capacity(CHUNK);
        loop {
            chunk.clear();
            match read(&opened, spare_capacity(&mut chunk)) {
                Ok(0) => return Ok(()),
                Ok(_) => drop(black_box(chunk.as_ptr())),
                Err(Errno::ISDIR) => return list(opened.as_fd(), 2),
                Err(error) => return Err(error),
            }
        }
    }

    fn content(&self, name: &str) -> Result<Vec<u8>, Errno> {
        let file = self.existing(name)?;
        let mut content = Vec::with_capacity(CHUNK);
        while read(&file, spare_capacity(&mut content))? > 0 {
            content.reserve(CHUNK);
        }
        Ok(content)
    }

    /// Stages a content, and leaves its name to the caller.
    fn staged(&self, name: &str, content: &[u8]) -> Result<String, Errno> {
        let staged = format!("{name}.staged");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&self.0, &staged, flags, Mode::from_raw_mode(0o600))?;
        let mut rest = content;
        while !rest.is_empty() {
            rest = &rest[write(&file, rest)?..];
        }
        fsync(&file)?;
        Ok(staged)
    }

    /// An edit without a new content fails.
    fn edit(&self, name: &str, edit: impl FnOnce(&str) -> Option<String>) -> Result<(), Errno> {
        let content = String::from_utf8(self.content(name)?).unwrap();
        let staged = self.staged(name, edit(&content).ok_or(Errno::INVAL)?.as_bytes())?;
        renameat(&self.0, staged, &self.0, name)?;
        fsync(&self.0)
    }

    fn execute(&self, command: &Command<'_>) -> Result<(), Errno> {
        match command {
            Command::View { path, .. } => self.view(below(path)),
            Command::Create { path, file_text } => {
                let staged = self.staged(below(path), file_text.as_bytes())?;
                renameat_with(&self.0, staged, &self.0, below(path), RenameFlags::NOREPLACE)?;
                fsync(&self.0)
            }
            Command::StrReplace { path, old_str, new_str } => {
                let once = |content: &str| content.matches(&**old_str).count() == 1;
                self.edit(below(path), |content| {
                    once(content).then(|| content.replacen(&**old_str, new_str, 1))
                })
            }
            Command::Insert { path, insert_line, insert_text } => {
                self.edit(below(path), |content| {
                    let before = usize::try_from(*insert_line).unwrap();
                    let at = content.split_inclusive('\n').take(before).map(str::len).sum();
                    let (head, tail) = content.split_at(at);
                    Some(format!("{head}{insert_text}{tail}"))
                })
            }
            Command::Delete { path } => {
                unlinkat(&self.0, below(path), AtFlags::empty())?;
                fsync(&self.0)
            }
            Command::Rename { old_path, new_path } => {
                let (old, new) = (below(old_path), below(new_path));
                renameat_with(&self.0, old, &self.0, new, RenameFlags::NOREPLACE)?;
                fsync(&self.0)
            }
            _ => Err(Errno::NOSYS),
        }
    }
}

impl Subject for Floor {
    fn call(&self, command: &Command<'_>) -> bool {
        self.execute(command).is_ok()
    }
}

/// The name of a path in the directory, which is `.` itself.
fn below(path: &str) -> &str {
    match path.strip_prefix("/memories").unwrap().trim_start_matches('/') {
        "" => ".",
        name => name,
    }
}

/// The entries of a directory, with the sizes of the files.
fn list(directory: impl AsFd, depth: usize) -> Result<(), Errno> {
    let mut buffer = vec![MaybeUninit::uninit(); 32 * 1024];
    let mut entries = RawDir::new(&directory, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_bytes().starts_with(b".") {
            continue;
        }
        if entry.file_type() == FileType::Directory {
            if depth > 1 {
                let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                list(openat(&directory, name, flags, Mode::empty())?, depth - 1)?;
            }
        } else {
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            black_box(statx(&directory, name, flags, StatxFlags::SIZE)?.stx_size);
        }
    }
    Ok(())
}
