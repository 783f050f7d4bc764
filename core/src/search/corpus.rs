//! [`Corpus`]: the index of one memory, and what it knows of each file.

mod saved;

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher as _, Hash as _, Hasher as _, RandomState};
use std::time::SystemTime;

use memdir_search::{Index, NewFile, Options, Query, Recency};
use memdir_store::path::{Folding, MAX_LEVELS, MemoryPath};
use memdir_store::{Error, StoreInfo};

use super::Question;
use super::kept::{Kept, Part};
use super::reading::{Content, ReadFiles, read_each};
use super::results::{SearchHit, SearchResults};
use super::vectors::{Embedded, Missing, Vector, Vectors};
use crate::embedder::Installed;
use crate::options::MemoryOptions;
use crate::policies::Policies;
use crate::store::{Entry, EntryKind, Fingerprints, InContext, Node, Store as _, StoreError};
use crate::trust::{Moment, Seen};

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
        corpus.make_room(0);
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
                vectors.update(&self.index, 0);
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
            let has_vectors = self.vectors.as_mut().is_none_or(|all| !all.is_full(&self.index));
            if !left_out.is_empty() || !has_vectors {
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
        let of_index = of_index.collect::<Vec<_>>();
        self.make_room(new.iter().map(|(_, text)| text.len()).sum());
        let results = self.index.put_all(&of_index);
        self.make_room(0);
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

    /// Drops vectors, if the index and this many bytes more leave no room for them. The texts come first, because a search by words needs
    /// all of them.
    fn make_room(&mut self, more: usize) {
        if let Some(vectors) = &mut self.vectors {
            vectors.make_room(&self.index, more, self.index.options().max_bytes);
        }
    }

    fn forget_vectors(&mut self, name: &str) {
        if let Some(vectors) = &mut self.vectors {
            vectors.forget(name);
        }
    }

    /// Answers a question. `vector` is its vector, or the reason why it has none; without an embedder there is neither. Returns `None` if
    /// passages have no vectors yet.
    ///
    /// # Errors
    /// If the search is cancelled.
    pub(super) fn answer(
        &mut self,
        store: &InContext<'_>,
        question: &Question<'_>,
        vector: Option<Result<&Vector, &str>>,
    ) -> Result<Option<SearchResults>, Error> {
        let (vector, words_only) = match vector {
            None => (None, None),
            Some(Err(reason)) => (None, Some(reason.to_owned())),
            Some(Ok(vector)) => match self.has_vectors(vector) {
                Ok(true) => (Some(vector), None),
                Ok(false) => return Ok(None),
                Err(reason) => (None, Some(reason)),
            },
        };
        self.search(store, question, vector, words_only).map(Some)
    }

    /// Whether every passage has a vector.
    ///
    /// # Errors
    /// The reason why the answer is by words alone.
    fn has_vectors(&mut self, query: &Vector) -> Result<bool, String> {
        let Some(vectors) = &mut self.vectors else { return Ok(true) };
        if vectors.is_full(&self.index) {
            return Err(TOO_MANY_VECTORS.into());
        }
        let is_complete = vectors.are_complete(&self.index);
        if is_complete {
            vectors.check_query(query)?;
        }
        Ok(is_complete)
    }

    /// Adds the vectors that an embedder returned, and those of calls that were given up, and returns the next texts to embed: none if every
    /// passage that was missing at first has a vector.
    ///
    /// # Errors
    /// The reason why the answer is by words alone.
    pub(super) fn next_batch(
        &mut self,
        embedded: Option<Embedded>,
        late: Vec<Embedded>,
        missing: &mut MissingTexts,
    ) -> Result<Batch, String> {
        let (index, Some(vectors)) = (&self.index, &mut self.vectors) else {
            return Ok(Batch::default());
        };
        if let Some((digests, numbers)) = embedded {
            let checked = vectors.checked(digests.len(), &numbers);
            let checked = checked.map_err(|problem| format!("the embedder failed: {problem}"))?;
            vectors.add(digests.into_iter().zip(checked));
        }
        if missing.texts.is_empty() || !late.is_empty() {
            vectors.update(index, 0);
            // A text that was removed meanwhile is not missing, and gets no vector.
            let wanted = vectors.missing();
            for (digests, late) in late {
                if let Ok(checked) = vectors.checked(digests.len(), &late) {
                    let pairs = digests.into_iter().zip(checked);
                    vectors.add(pairs.filter(|(digest, _)| wanted.contains(digest)));
                }
            }
            missing.texts = vectors.update(index, TEXTS).into();
            missing.count = vectors.missing().len();
        }
        let left = *missing.left.get_or_insert(missing.count);
        let room = index.options().max_bytes.saturating_sub(index.memory());
        if vectors.memory_with(missing.count) > room {
            vectors.drop_all_unused();
        }
        if vectors.memory_with(missing.count) > room {
            vectors.are_too_many(index);
            return Err(TOO_MANY_VECTORS.into());
        }
        let size = BATCH.min(missing.texts.len()).min(left);
        missing.left = Some(left - size);
        missing.count -= size;
        Ok(Batch { texts: missing.texts.drain(..size).collect(), counts: vectors.counts() })
    }

    /// Returns the files at `path` and below it that answer the question best.
    ///
    /// # Errors
    /// If the search is cancelled.
    pub(super) fn search(
        &self,
        store: &InContext<'_>,
        question: &Question<'_>,
        vector: Option<&Vector>,
        words_only: Option<String>,
    ) -> Result<SearchResults, Error> {
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
        let is_stopped = || store.check().is_err();
        let hits = match (vector, &self.vectors) {
            (Some(vector), Some(vectors)) => {
                // A restriction leaves out some of them.
                let most = if query.is_restricted() { usize::MAX } else { NEAREST.max(limit) };
                let nearest = vectors.nearest(vector, most, is_within);
                self.index.search_joined(&query, limit, is_within, is_stopped, &nearest)
            }
            _ => self.index.search_where(&query, limit, is_within, is_stopped),
        };
        let Some(hits) = hits else { return Err(Error::Store(StoreError::Cancelled)) };
        let hits = hits.into_iter().filter_map(|hit| {
            Some(SearchHit {
                path: path_of(&hit.path)?,
                score: hit.score,
                modified: hit.modified,
                passages: hit.passages.into_iter().map(Into::into).collect(),
            })
        });
        Ok(SearchResults { hits: hits.collect(), files_left_out: self.left_out, words_only })
    }
}

/// The most texts of one call of an embedder. Services accept at least as many.
const BATCH: usize = 64;

/// The texts to embed that are in memory at the same time, beside those of one file.
const TEXTS: usize = 16 * BATCH;

const TOO_MANY_VECTORS: &str = "the vectors do not fit into search_max_bytes";

/// The next texts for an embedder.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) texts: Vec<Missing>,
    /// The number of passages, and of those with a vector.
    pub(super) counts: (usize, usize),
}

/// The texts that a search embeds.
#[derive(Debug, Default)]
pub(super) struct MissingTexts {
    /// Some of them.
    texts: VecDeque<Missing>,
    /// The number of all.
    count: usize,
    /// The number of those that were there when the search began to embed. So it ends, although other writers add files.
    left: Option<usize>,
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
