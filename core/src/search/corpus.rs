//! [`Corpus`]: the index of one memory, and what it knows of each file.

mod saved;

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _, RandomState};
use std::time::SystemTime;

use memdir_search::{Index, NewFile, Options, Query, Recency};
use memdir_store::path::{Folding, MAX_LEVELS, MemoryPath};
use memdir_store::{Error, StoreInfo};

use super::Question;
use super::embedding::{Embedding, Without};
use super::kept::{Kept, Part};
use super::reading::{Content, ReadFiles, read_each};
use super::results::{SearchHit, SearchResults};
use super::trust::{Moment, Seen};
use super::vectors::{Vector, Vectors};
use crate::embedder::Installed;
use crate::options::MemoryOptions;
use crate::policies::Policies;
use crate::store::{Entry, EntryKind, Fingerprints, InContext, Node, Store as _};

/// The bonus of the newest file with `search_recency`: half of its score.
const RECENCY_WEIGHT: f64 = 0.5;

/// The texts of a memory, in an index.
#[derive(Debug)]
pub(super) struct Corpus {
    index: Index,
    files: HashMap<MemoryPath, FileState>,
    /// The revision of the store before the listing from which the index was made. `None` while the index is not complete.
    revision: Option<String>,
    /// The digest of the last listing, if the index certainly has every file in it. A listing with the same digest needs no comparison, file
    /// by file.
    listed: Option<u64>,
    /// The random keys of the digest.
    keys: RandomState,
    /// The number of files that do not fit.
    left_out: u64,
    /// The number of listings.
    round: u64,
    fingerprints: Fingerprints,
    folding: Folding,
    /// A digest of the options and versions that the texts and the index depend on.
    settings: u64,
    /// The texts in the kept index that are no longer current. `None` if nothing has changed since the index was kept or loaded.
    outdated: Option<Extent>,
    /// `None` without an embedder.
    vectors: Option<Vectors>,
}

/// A number of files, and the size of their texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Extent {
    files: usize,
    bytes: usize,
}

impl Extent {
    fn add(&mut self, bytes: usize) {
        self.files += 1;
        self.bytes += bytes;
    }
}

/// Less than this is not worth a write: another process reads it as fast as an index.
const WORTH: Extent = Extent { files: 16, bytes: 64 * 1024 };
/// This many files are worth a write, also if they are a small part of the index.
const MANY_FILES: usize = 1_000;
/// The part of the texts that is worth a write: a tenth.
const PART: usize = 10;

/// The state of a file in the index.
#[derive(Debug)]
struct FileState {
    seen: Seen,
    /// The time that the index has for the file.
    modified: Option<SystemTime>,
    /// The last listing that had the file.
    round: u64,
    /// For a file that did not fit: the memory of the index at that moment.
    left_out_at: Option<usize>,
    /// The size of its text in the index.
    bytes: usize,
    /// Whether the kept index has this text and this fingerprint.
    is_kept: bool,
}

impl Corpus {
    /// The index that another process has kept, or an empty one.
    pub(super) fn begin(
        info: &StoreInfo,
        options: &MemoryOptions,
        kept: Option<&Kept<'_>>,
        embedder: Option<&Installed>,
    ) -> Self {
        let empty = || Self::new(info, options);
        let newest = |part| kept?.newest(part, options.search_max_bytes.unwrap_or(u64::MAX));
        let saved = newest(Part::Index).and_then(|bytes| empty().with_saved(&bytes));
        let mut corpus = saved.unwrap_or_else(empty);
        corpus.vectors = embedder.map(|embedder| {
            let saved = newest(Part::Vectors);
            let saved = saved.and_then(|bytes| Vectors::from_saved(embedder.name.clone(), &bytes));
            saved.unwrap_or_else(|| Vectors::new(embedder.name.clone()))
        });
        corpus
    }

    fn new(info: &StoreInfo, options: &MemoryOptions) -> Self {
        let mut of_index = Options::default().language(options.search_language.of_index());
        if let Some(bytes) = options.search_max_bytes {
            of_index = of_index.max_bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
        }
        if let Some(half_life) = options.search_recency {
            of_index = of_index.recency(Recency { weight: RECENCY_WEIGHT, half_life });
        }
        Self {
            index: Index::new(of_index),
            files: HashMap::new(),
            revision: None,
            listed: None,
            keys: RandomState::new(),
            left_out: 0,
            round: 0,
            fingerprints: info.fingerprints,
            folding: Folding::new(info.folds_case),
            settings: saved::settings(info, options),
            outdated: None,
            vectors: None,
        }
    }

    /// Keeps the index and the vectors for other processes, each if that is worth a write. A failure only costs them time.
    ///
    /// The claim comes before a listing, so every text that is kept was in the store after the claim was made. A process that removes a text for
    /// good removes the claims after it.
    pub(super) fn keep(&mut self, store: &InContext<'_>, policies: &Policies, kept: &Kept<'_>) {
        if kept.is_read_only {
            return;
        }
        let keeps_index = self.is_worth_keeping();
        let keeps_vectors = self.vectors.as_ref().is_some_and(Vectors::is_worth_keeping);
        let most = policies.options.search_max_bytes.unwrap_or(u64::MAX);
        let claim = |part, is_worth: bool| is_worth.then(|| kept.claim(part)).flatten();
        let claims = (claim(Part::Index, keeps_index), claim(Part::Vectors, keeps_vectors));
        let is_updated =
            (claims.0.is_some() || claims.1.is_some()) && self.update(store, policies).is_ok();
        if let Some(claim) = claims.0 {
            let bytes = is_updated.then(|| self.saved());
            kept.fill(claim, bytes.filter(|bytes| bytes.len() as u64 <= most));
        }
        if let (Some(claim), Some(vectors)) = (claims.1, &mut self.vectors) {
            let bytes = is_updated.then(|| {
                vectors.update(&self.index);
                vectors.saved()
            });
            kept.fill(claim, bytes.filter(|bytes| bytes.len() as u64 <= most));
        }
        // Also after a failure: the next attempt comes when as much has changed again.
        if keeps_index {
            for state in self.files.values_mut() {
                state.is_kept = state.seen.is_trusted();
            }
            self.outdated = None;
        }
        if let Some(vectors) = self.vectors.as_mut().filter(|_| keeps_vectors) {
            vectors.were_kept();
        }
    }

    fn is_worth_keeping(&self) -> bool {
        let Some(mut changed) = self.outdated else { return false };
        let mut all = Extent::default();
        for state in self.files.values().filter(|state| state.left_out_at.is_none()) {
            all.add(state.bytes);
            // Another process reads the others in any case.
            if !state.is_kept && state.seen.is_trusted() {
                changed.add(state.bytes);
            }
        }
        let is_worth = changed.files >= WORTH.files || changed.bytes >= WORTH.bytes;
        changed.files >= MANY_FILES || is_worth && changed.bytes.saturating_mul(PART) >= all.bytes
    }

    /// Brings the index up to date with the store.
    ///
    /// # Errors
    /// Failures of the store, and cancellation. The next update does the rest.
    pub(super) fn update(
        &mut self,
        store: &InContext<'_>,
        policies: &Policies,
    ) -> Result<(), Error> {
        // Before the listing, so a change during the listing is found by the next search.
        let revision = store.revision().map_err(Error::Store)?;
        if revision.is_some() && revision == self.revision {
            return Ok(());
        }
        self.revision = None;
        let began = Moment::now();
        let mut entries = match store.open(&MemoryPath::root(), MAX_LEVELS) {
            Ok(Node::Directory(entries)) => entries,
            Err(error) if error.is_failure() => return Err(Error::Store(error)),
            // Nothing was created yet.
            Ok(Node::File(..)) | Err(_) => Vec::new(),
        };
        let listed = (began, Moment::now());
        entries.retain(Entry::is_file);
        let (digest, count) = (self.digest(&entries), entries.len());
        if self.listed == Some(digest) {
            self.revision = revision;
            return Ok(());
        }
        self.listed = None;
        self.read(store, policies, entries, listed)?;
        let is_certain = |state: &FileState| state.seen.is_trusted() && state.left_out_at.is_none();
        let has_all = self.files.len() == count && self.files.values().all(is_certain);
        self.listed = has_all.then_some(digest);
        self.revision = revision;
        Ok(())
    }

    /// Brings the index up to date with a listing, which began and ended at these moments.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub(super) fn read(
        &mut self,
        store: &InContext<'_>,
        policies: &Policies,
        files: Vec<Entry>,
        listed: (Moment, Moment),
    ) -> Result<(), Error> {
        let to_read = self.compare(files);
        // A content is read after its fingerprint. If the file is changed in between, the next search finds another fingerprint.
        let max_bytes = u64::try_from(self.index.options().max_bytes).unwrap_or(u64::MAX);
        read_each(store, policies, max_bytes, &to_read, &mut |files| {
            self.put_all(files, listed);
        })?;
        let left_out = self.files.values().filter(|state| state.left_out_at.is_some());
        self.left_out = left_out.count() as u64;
        Ok(())
    }

    /// A digest of everything in a listing that the index depends on.
    fn digest(&self, files: &[Entry]) -> u64 {
        let mut hasher = self.keys.build_hasher();
        for file in files {
            (&file.path, &file.fingerprint, file.modified).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Removes the files that are not in a listing, and returns those to read.
    fn compare(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        self.round += 1;
        let (mut known, mut to_read, mut left_out) = (0, Vec::new(), Vec::new());
        for entry in entries {
            let Some(state) = self.files.get_mut(&entry.path) else {
                to_read.push(entry);
                continue;
            };
            if state.round < self.round {
                state.round = self.round;
                known += 1;
            }
            match state.left_out_at {
                Some(full) if state.seen.has_fingerprint_of(&entry) => left_out.push((entry, full)),
                None if state.seen.is_current(&entry) => {
                    if state.modified != entry.modified {
                        state.modified = entry.modified;
                        self.index.set_modified(name(&entry.path), entry.modified);
                    }
                }
                _ => to_read.push(entry),
            }
        }
        if known < self.files.len() {
            let (index, round, vectors) = (&mut self.index, self.round, &mut self.vectors);
            let outdated = self.outdated.get_or_insert_default();
            self.files.retain(|path, state| {
                let is_listed = state.round == round;
                if !is_listed {
                    index.remove(name(path));
                    if let Some(vectors) = vectors.as_mut() {
                        vectors.forget(name(path));
                    }
                    if state.is_kept {
                        outdated.add(state.bytes);
                    }
                }
                is_listed
            });
            if !left_out.is_empty() {
                self.index.shrink();
            }
        }
        // A text takes about twice its size. Without this rule, each search would read files that do not fit.
        let (memory, most) = (self.index.memory(), self.index.options().max_bytes);
        let fits = |entry: &Entry| memory.saturating_add(size(entry).saturating_mul(2)) <= most;
        let now_fits = left_out.into_iter().filter(|(entry, full)| memory < *full && fits(entry));
        to_read.extend(now_fits.map(|(entry, _)| entry));
        let bytes = to_read.iter().map(size).fold(memory, usize::saturating_add);
        if bytes > most {
            // If not all files fit, the newest are searched.
            to_read.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
        }
        to_read
    }

    /// Puts files into the index, whose texts are cut into words by several threads.
    fn put_all(&mut self, files: ReadFiles<'_>, listed: (Moment, Moment)) {
        let mut new = Vec::new();
        for (file, content) in files {
            let path = name(&file.path);
            let outdated = self.outdated.get_or_insert_default();
            let known = self.files.get(&file.path).filter(|known| known.is_kept);
            if let Some(known) = known {
                outdated.add(known.bytes);
            }
            match content {
                Content::Gone => {
                    self.index.remove(path);
                    self.files.remove(&file.path);
                    self.forget_vectors(path);
                }
                Content::TooLarge => {
                    self.index.remove(path);
                    self.forget_vectors(path);
                    self.note(file, None, listed);
                }
                Content::Text(text) => {
                    if self.index.get(path).is_some_and(|(_, known)| known == text) {
                        self.index.set_modified(path, file.modified);
                        self.note(file, Some(text.len()), listed);
                    } else {
                        self.forget_vectors(path);
                        new.push((file, text));
                    }
                }
            }
        }
        let of_index = new.iter().map(|(file, text)| NewFile {
            path: name(&file.path),
            text: text.as_bytes(),
            modified: file.modified,
        });
        let results = self.index.put_all(&of_index.collect::<Vec<_>>());
        for ((file, text), result) in new.into_iter().zip(results) {
            self.note(file, result.is_ok().then_some(text.len()), listed);
        }
    }

    /// Takes note of a file that was read: the size of its text, or `None` if it is left out.
    fn note(&mut self, file: &Entry, bytes: Option<usize>, listed: (Moment, Moment)) {
        let before = self.files.get(&file.path).map(|state| &state.seen);
        let state = FileState {
            seen: Seen::new(file, self.fingerprints, listed, before),
            modified: file.modified,
            round: self.round,
            left_out_at: bytes.is_none().then(|| self.index.memory()),
            bytes: bytes.unwrap_or(0),
            is_kept: false,
        };
        self.files.insert(file.path.clone(), state);
    }

    fn forget_vectors(&mut self, name: &str) {
        if let Some(vectors) = &mut self.vectors {
            vectors.forget(name);
        }
    }

    /// Answers a question. `asked` is its vector, or the reason why it has none.
    ///
    /// # Errors
    /// If the search is cancelled.
    pub(super) fn answer(
        &mut self,
        question: &Question<'_>,
        embedding: Option<&mut Embedding<'_>>,
        asked: Option<Result<Vector, String>>,
    ) -> Result<SearchResults, Error> {
        let (Some(embedding), Some(asked)) = (embedding, asked) else {
            return Ok(self.search(question, None, None));
        };
        let reason = match asked {
            Err(reason) => reason,
            Ok(vector) => match self.complete_vectors(embedding, &vector) {
                Ok(()) => return Ok(self.search(question, Some(&vector), None)),
                Err(Without::Failed(error)) => return Err(error),
                Err(Without::WordsOnly(reason)) => reason,
            },
        };
        Ok(self.search(question, None, Some(reason)))
    }

    /// Sees that every passage has a vector.
    fn complete_vectors(
        &mut self,
        embedding: &mut Embedding<'_>,
        query: &Vector,
    ) -> Result<(), Without> {
        let Some(vectors) = &mut self.vectors else { return Ok(()) };
        let missing = vectors.update(&self.index);
        let room = self.index.options().max_bytes.saturating_sub(self.index.memory());
        embedding.complete(vectors, &missing, room)?;
        vectors.check_query(query).map_err(Without::WordsOnly)
    }

    /// Returns the files at `path` and below it that answer the question best.
    fn search(
        &self,
        question: &Question<'_>,
        vector: Option<&Vector>,
        words_only: Option<String>,
    ) -> SearchResults {
        let (query, path) = (query(question.text), question.path);
        let is_within = |found: &str| match path_of(found) {
            _ if path.is_root() => true,
            Some(found) => {
                let (found, path) = (self.folding.key(&found), self.folding.key(path));
                *found == *path || path.is_above(&found)
            }
            None => false,
        };
        let limit = question.limit;
        let hits = match (vector, &self.vectors) {
            (Some(vector), Some(vectors)) => {
                // A restriction leaves out some of them.
                let most = if query.is_restricted() { usize::MAX } else { NEAREST.max(limit) };
                let nearest = vectors.nearest(vector, most, is_within);
                self.index.search_joined(&query, limit, is_within, &nearest)
            }
            _ => self.index.search_where(&query, limit, is_within),
        };
        let hits = hits.into_iter().filter_map(|hit| {
            Some(SearchHit {
                path: path_of(&hit.path)?,
                score: hit.score,
                modified: hit.modified,
                passages: hit.passages.into_iter().map(Into::into).collect(),
            })
        });
        SearchResults { hits: hits.collect(), files_left_out: self.left_out, words_only }
    }
}

/// The nearest files that are ranked: those that can count in a joined ranking.
const NEAREST: usize = 100;

/// Reads a question.
pub(super) fn query(text: &str) -> Query {
    Query::parse(&without_root(text))
}

/// The name of a file in the index: its path below the root, because the words of a path are searched, and every path begins with the root.
fn name(path: &MemoryPath) -> &str {
    path.as_str().strip_prefix(MemoryPath::root().as_str()).unwrap_or_default()
}

fn path_of(name: &str) -> Option<MemoryPath> {
    MemoryPath::parse(&format!("{}{name}", MemoryPath::root())).ok()
}

/// A query without the root in the paths that it restricts to: `path:/memories/tea` becomes `path:/tea`.
fn without_root(query: &str) -> String {
    const RESTRICTION: &[u8] = b"path:";
    const QUOTES: [char; 8] = ['"', '“', '”', '„', '«', '»', '「', '」'];
    let root = MemoryPath::root();
    let root = root.as_str();
    let (mut short, mut rest) = (String::with_capacity(query.len()), query);
    while let Some(at) = rest
        .as_bytes()
        .windows(RESTRICTION.len())
        .position(|part| part.eq_ignore_ascii_case(RESTRICTION))
    {
        let value = rest[at + RESTRICTION.len()..].trim_start_matches(QUOTES);
        short.push_str(&rest[..rest.len() - value.len()]);
        rest = value;
        let (Some(first), Some(below)) = (value.get(..root.len()), value.get(root.len()..)) else {
            continue;
        };
        if first.eq_ignore_ascii_case(root) {
            let ends_here =
                |next: char| next == '/' || next.is_whitespace() || QUOTES.contains(&next);
            if below.is_empty() || below.starts_with(ends_here) {
                // Each path begins with a slash, so the root restricts nothing.
                short.push_str(if below.starts_with('/') { "" } else { "/" });
                rest = below;
            }
        }
    }
    short.push_str(rest);
    short
}

fn size(entry: &Entry) -> usize {
    match entry.kind {
        EntryKind::File(size) => usize::try_from(size).unwrap_or(usize::MAX),
        EntryKind::Directory => 0,
    }
}
