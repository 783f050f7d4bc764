//! Adds many files at once, on several threads.
//!
//! Nearly all of the time of an index is spent on cutting texts and on stems, which needs nothing of the index. So each thread makes an index
//! of some of the files, and these are appended in order. The result is the same index, to the last list, with any number of threads.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::thread;
use std::time::SystemTime;

use crate::drafts::Drafter;
use crate::error::IndexFull;
use crate::index::{Index, NO_FILE};

/// Fewer bytes are not worth a thread.
const LEAST_BYTES: usize = 64 * 1024;
/// The bytes for one thread, if there are many: they are in memory twice for a moment.
const MOST_BYTES: usize = 1 << 20;
/// More threads would wait for the one that appends.
const MOST_THREADS: usize = 8;

/// A file to add to an index: the arguments of [`Index::put`].
#[derive(Debug, Clone, Copy)]
pub struct NewFile<'f> {
    /// Its path.
    pub path: &'f str,
    /// Its text, which is indexed up to the first byte that is not UTF-8.
    pub text: &'f [u8],
    /// Its time.
    pub modified: Option<SystemTime>,
}

impl Index {
    /// Adds or replaces several files, with the result of [`put`](Index::put) for each. It is faster than `put`: words that many files have are
    /// stemmed once, and large batches use several threads, where the system has them.
    ///
    /// The index is the same as if the files were put one after the other.
    ///
    /// ```
    /// use memdir_search::{Index, NewFile, Options, Query};
    ///
    /// let mut index = Index::new(Options::default());
    /// let texts = [("anna.md", "Anna likes tea."), ("ben.md", "Ben likes coffee.")];
    /// let files = texts.map(|(path, text)| NewFile { path, text: text.as_bytes(), modified: None });
    /// assert!(index.put_all(&files).iter().all(Result::is_ok));
    /// assert_eq!(index.search(&Query::text("coffee"), 1)[0].path, "ben.md");
    /// ```
    pub fn put_all(&mut self, files: &[NewFile<'_>]) -> Vec<Result<(), IndexFull>> {
        let bytes: usize = files.iter().map(|file| file.text.len()).sum();
        // Where there are no threads, their number is an error.
        let threads = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let threads = if bytes < 2 * LEAST_BYTES { 1 } else { threads().min(MOST_THREADS) };
        self.put_by_threads(files, threads, (bytes / threads).clamp(LEAST_BYTES, MOST_BYTES))
    }

    /// Adds files with this number of threads, each of which takes about this many bytes at once.
    fn put_by_threads(
        &mut self,
        files: &[NewFile<'_>],
        threads: usize,
        bytes: usize,
    ) -> Vec<Result<(), IndexFull>> {
        let mut results = Vec::with_capacity(files.len());
        let distinct: HashSet<&str> = files.iter().map(|file| file.path).collect();
        // The last file of a path counts, so their order matters.
        if threads < 2 || distinct.len() < files.len() {
            self.put_in_turn(files, &mut results);
            return results;
        }
        for round in parts(files, bytes).chunks(threads) {
            for (part, index) in round.iter().zip(self.indexes_of(round)) {
                match index.filter(|index| self.has_room_for(index)) {
                    Some(index) => {
                        for file in *part {
                            self.remove(file.path);
                        }
                        results.resize(results.len() + part.len(), Ok(()));
                        self.append(index);
                    }
                    // File by file it is known which ones fit.
                    None => self.put_in_turn(part, &mut results),
                }
            }
        }
        results
    }

    fn put_in_turn(&mut self, files: &[NewFile<'_>], results: &mut Vec<Result<(), IndexFull>>) {
        let mut drafter = Drafter::default();
        let put =
            |file: &NewFile<'_>| self.put_by(&mut drafter, file.path, file.text, file.modified);
        results.extend(files.iter().map(put));
    }

    /// An index of each part, made by a thread of its own. `None` if not all files of a part fit.
    fn indexes_of(&self, parts: &[&[NewFile<'_>]]) -> Vec<Option<Index>> {
        let make = &|files: &[NewFile<'_>]| {
            let (mut index, mut results) = (Index::new(self.options.clone()), Vec::new());
            index.put_in_turn(files, &mut results);
            results.iter().all(Result::is_ok).then_some(index)
        };
        thread::scope(|scope| {
            let (last, others) = parts.split_last().unzip();
            let mut begun = Vec::new();
            for part in others.unwrap_or_default() {
                let thread = thread::Builder::new().spawn_scoped(scope, move || make(part));
                begun.push((part, thread.ok()));
            }
            let last = last.map(|part| make(part));
            let ended = begun.into_iter().map(|(part, thread)| match thread {
                Some(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                // The system has not given a thread.
                None => make(part),
            });
            ended.chain(last).collect()
        })
    }

    /// Whether an index certainly fits. Its buffers may grow to twice their size.
    fn has_room_for(&self, other: &Self) -> bool {
        let memory = self.memory().saturating_add(other.memory()).saturating_mul(2);
        memory <= self.options.max_bytes
            && u32::try_from(self.owners.len() + other.owners.len()).is_ok()
            && self.vocabulary.has_room_for(&other.vocabulary)
    }

    /// Appends an index without removed files, which has none of the paths of this one.
    fn append(&mut self, other: Self) {
        let before = u32::try_from(self.owners.len()).unwrap_or(NO_FILE);
        for mut file in other.slots.into_iter().flatten() {
            let slot = self.free_slot();
            self.owners.resize(self.owners.len() + file.numbers().len(), slot);
            file.first += before;
            self.add(file, slot);
        }
        self.lengths.extend(other.lengths);
        self.vocabulary.append(&other.vocabulary, before);
    }
}

/// The files in parts of about this many bytes.
fn parts<'p, 'f>(files: &'p [NewFile<'f>], bytes: usize) -> Vec<&'p [NewFile<'f>]> {
    let (mut parts, mut rest) = (Vec::new(), files);
    while !rest.is_empty() {
        let mut size = 0;
        let fits = |file: &&NewFile<'_>| {
            let begins = size < bytes;
            size += file.text.len();
            begins
        };
        let (part, after) = rest.split_at(rest.iter().take_while(fits).count());
        parts.push(part);
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use crate::query::Query;

    fn texts() -> Vec<(String, String)> {
        let words =
            ["tea", "the", "meetings", "Besprechung", "und", "встречи", "会议記録", "\n\n- "];
        (0..90_usize)
            .map(|at| {
                let word = |place: usize| {
                    format!("{}{} ", words[at * place % words.len()], place % 9 * at % 5)
                };
                (format!("d{}/file-{at}.md", at % 7), (0..at).map(word).collect())
            })
            .collect()
    }

    fn files(texts: &[(String, String)]) -> Vec<NewFile<'_>> {
        texts
            .iter()
            .map(|(path, text)| NewFile { path, text: text.as_bytes(), modified: None })
            .collect()
    }

    #[test]
    fn the_index_is_the_same_with_any_number_of_threads() {
        let texts = texts();
        let files = files(&texts);
        let mut expected = Index::new(Options::default());
        files.iter().for_each(|file| expected.put(file.path, file.text, None).unwrap());
        for (threads, bytes) in [(1, 100), (2, 100), (3, 1), (3, 2_000), (8, 10_000), (2, 1 << 20)]
        {
            let mut index = Index::new(Options::default());
            assert!(index.put_by_threads(&files, threads, bytes).iter().all(Result::is_ok));
            assert_eq!(index.to_bytes(), expected.to_bytes(), "{threads} threads");
            assert_eq!(index.memory(), expected.memory(), "{threads} threads");
            // Again, when all of the paths are there.
            index.put_by_threads(&files[20..], threads, bytes);
            index.remove(files[0].path);
            assert_eq!(index.len(), files.len() - 1);
            index.put(files[0].path, files[0].text, None).unwrap();
            assert_eq!(index.to_bytes(), expected.to_bytes(), "{threads} threads");
            for query in ["tea meeting", "Besprechungen", "встреча", "会议"] {
                let query = Query::parse(query);
                assert_eq!(index.search(&query, 20), expected.search(&query, 20));
            }
        }
    }

    #[test]
    fn the_files_that_do_not_fit_are_the_same_with_any_number_of_threads() {
        let texts = texts();
        let files = files(&texts);
        for most in [2_000, 20_000, 40_000, 60_000] {
            let options = Options::default().max_bytes(most);
            let mut expected = Index::new(options.clone());
            let results: Vec<_> =
                files.iter().map(|file| expected.put(file.path, file.text, None)).collect();
            assert!(results.iter().any(Result::is_err));
            for threads in [1, 2, 5] {
                let mut index = Index::new(options.clone());
                assert_eq!(index.put_by_threads(&files, threads, 500), results);
                assert_eq!(index.to_bytes(), expected.to_bytes());
                assert!(index.memory() <= most);
            }
        }
    }

    #[test]
    fn the_last_file_of_a_path_counts() {
        let texts = ["green", "black", "white"].map(|text| text.repeat(300));
        let paths = ["a", "b", "a"];
        let mut files = Vec::new();
        for (path, text) in paths.into_iter().zip(&texts) {
            files.push(NewFile { path, text: text.as_bytes(), modified: None });
        }
        let mut index = Index::new(Options::default());
        assert_eq!(index.put_by_threads(&files, 3, 1), [Ok(()), Ok(()), Ok(())]);
        assert_eq!(index.get("a"), Some((None, texts[2].as_str())));
        assert_eq!(index.len(), 2);
    }
}
