//! The vectors of the passages in an index.
//!
//! A vector belongs to the text from which it was made, by its SHA-256, so it is never stale: a passage that is moved or restored finds its
//! vector again. The numbers are rounded to bytes. That takes a quarter of the memory, and their products are whole numbers, so the same
//! vectors have the same order on every machine.

mod saved;

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use memdir_search::{Index, RankedPassage};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a text.
pub(super) type Digest = [u8; 32];

/// The most numbers of a vector. More would overflow the sum of the products.
pub(super) const MOST_DIMENSIONS: usize = 65_536;

/// The vectors of removed passages up to which they are kept, because a text may come back.
const FEW_UNUSED: usize = 1_000;

/// The memory of a vector beside its numbers, in bytes: its place in the two tables.
const OVERHEAD: usize = 160;

/// A direction: the numbers of a vector as parts of the largest one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Vector {
    parts: Box<[i8]>,
    /// The factor that makes the length 1.
    scale: f32,
}

impl Vector {
    /// Rounds a vector. Its length does not matter.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub(super) fn new(numbers: &[f32]) -> Result<Self, String> {
        if numbers.is_empty() || numbers.len() > MOST_DIMENSIONS {
            let count = numbers.len();
            return Err(format!("a vector has {count} numbers, and not 1 to {MOST_DIMENSIONS}"));
        }
        if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
            return Err(format!("a vector has the number {number}"));
        }
        let largest = numbers.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        if largest == 0.0 {
            return Ok(Self { parts: vec![0; numbers.len()].into(), scale: 0.0 });
        }
        #[expect(clippy::cast_possible_truncation, reason = "the largest part is 127")]
        let part = |number: &f32| (number / largest * 127.0).round() as i8;
        let parts: Box<[i8]> = numbers.iter().map(part).collect();
        Ok(Self { scale: scale(&parts), parts })
    }

    pub(super) fn dimensions(&self) -> usize {
        self.parts.len()
    }

    /// The cosine of the angle between both: 1 for the same direction.
    fn similarity(&self, other: &Self) -> f64 {
        f64::from(product(&self.parts, &other.parts))
            * f64::from(self.scale)
            * f64::from(other.scale)
    }
}

/// The sum of the products. It is below 2³¹ for [`MOST_DIMENSIONS`].
fn product(one: &[i8], other: &[i8]) -> i32 {
    one.iter().zip(other).map(|(one, other)| i32::from(*one) * i32::from(*other)).sum()
}

#[expect(clippy::cast_possible_truncation, reason = "a factor needs no more digits")]
fn scale(parts: &[i8]) -> f32 {
    (1.0 / f64::from(product(parts, parts)).sqrt()) as f32
}

/// The passages of a file that are ranked: as many as a hit shows.
const BEST_PASSAGES: usize = 3;

/// The order of two passages with their similarities: the nearer first.
fn order(a: &(f64, RankedPassage<'_>), b: &(f64, RankedPassage<'_>)) -> Ordering {
    let (one, other) = (&a.1, &b.1);
    b.0.total_cmp(&a.0).then_with(|| (one.path, one.passage).cmp(&(other.path, other.passage)))
}

/// A passage of the index.
#[derive(Debug)]
struct Passage {
    digest: Digest,
    vector: Option<Arc<Vector>>,
}

/// The vectors of one embedder.
#[derive(Debug)]
pub(super) struct Vectors {
    /// The name of the embedder.
    name: Arc<str>,
    /// The number of numbers in each; 0 before the first one.
    dimensions: usize,
    known: HashMap<Digest, Arc<Vector>>,
    /// The passages of each file in the index, by its name there. A file whose text has changed is missing.
    files: HashMap<String, Vec<Passage>>,
    /// The number of vectors that no other process has.
    unsaved: usize,
    /// Whether `files` has all passages of the index, each with its vector.
    is_complete: bool,
    /// The size of the index beside which not all vectors fitted.
    full_at: Option<usize>,
}

/// The numbers that an embedder returned for some texts.
pub(super) type Embedded = (Vec<Digest>, Vec<Vec<f32>>);

/// A text without a vector.
pub(super) type Missing = (Digest, String);

impl Vectors {
    pub(super) fn new(name: Arc<str>) -> Self {
        Self {
            name,
            dimensions: 0,
            known: HashMap::new(),
            files: HashMap::new(),
            unsaved: 0,
            is_complete: false,
            full_at: None,
        }
    }

    /// Forgets the passages of a file, because its text is new, or no longer in the index.
    pub(super) fn forget(&mut self, name: &str) {
        self.is_complete = false;
        self.files.remove(name);
    }

    /// Finds the passages of all files in the index, and returns texts that have no vector, each once: `most` of them, or those of one file
    /// more.
    pub(super) fn update(&mut self, index: &Index, most: usize) -> Vec<Missing> {
        let (mut missing, mut seen) = (Vec::new(), HashSet::new());
        if self.is_complete {
            return missing;
        }
        let mut is_complete = true;
        for name in index.paths() {
            let known = &self.known;
            if let Some(passages) = self.files.get_mut(name)
                && passages.len() == index.passage_count(name)
            {
                for passage in passages.iter_mut().filter(|passage| passage.vector.is_none()) {
                    passage.vector = known.get(&passage.digest).cloned();
                }
                let has_all = passages.iter().all(|passage| passage.vector.is_some());
                is_complete &= has_all;
                if has_all || missing.len() >= most {
                    continue;
                }
            }
            let is_wanted = missing.len() < most;
            let texts = index.passages(name).unwrap_or_default();
            let passages = texts.into_iter().map(|text| {
                let digest: Digest = Sha256::digest(&text).into();
                let vector = known.get(&digest).cloned();
                is_complete &= vector.is_some();
                if is_wanted && vector.is_none() && seen.insert(digest) {
                    missing.push((digest, text));
                }
                Passage { digest, vector }
            });
            let passages = passages.collect();
            self.files.insert(name.to_owned(), passages);
        }
        self.drop_unused();
        self.is_complete = is_complete;
        missing
    }

    /// Whether every passage of the index has a vector.
    pub(super) fn are_complete(&mut self, index: &Index) -> bool {
        self.update(index, 0);
        self.is_complete
    }

    /// The texts that have no vector, as far as [`update`](Self::update) has found them.
    pub(super) fn missing(&self) -> HashSet<Digest> {
        let passages = self.files.values().flatten();
        passages.filter(|passage| passage.vector.is_none()).map(|passage| passage.digest).collect()
    }

    /// The number of passages, and of those with a vector.
    pub(super) fn counts(&self) -> (usize, usize) {
        let mut counts = (0, 0);
        for passage in self.files.values().flatten() {
            counts.0 += 1;
            counts.1 += usize::from(passage.vector.is_some());
        }
        counts
    }

    /// Checks the vectors for some texts.
    ///
    /// # Errors
    /// Says what is wrong with them.
    pub(super) fn checked(
        &self,
        texts: usize,
        vectors: &[Vec<f32>],
    ) -> Result<Vec<Vector>, String> {
        if vectors.len() != texts {
            return Err(format!("it returned {} vectors for {texts} texts", vectors.len()));
        }
        let vectors: Vec<Vector> =
            vectors.iter().map(|vector| Vector::new(vector)).collect::<Result<_, _>>()?;
        let mut dimensions = self.dimensions;
        for vector in &vectors {
            self.check_dimensions(vector, dimensions)?;
            dimensions = vector.dimensions();
        }
        Ok(vectors)
    }

    /// Checks the vector of a question.
    ///
    /// # Errors
    /// Says why it cannot be compared with these.
    pub(super) fn check_query(&self, vector: &Vector) -> Result<(), String> {
        self.check_dimensions(vector, self.dimensions)
            .map_err(|problem| format!("the embedder failed: {problem}"))
    }

    fn check_dimensions(&self, vector: &Vector, expected: usize) -> Result<(), String> {
        let found = vector.dimensions();
        if expected == 0 || found == expected {
            return Ok(());
        }
        let name = &self.name;
        Err(format!(
            "a vector has {found} numbers, and others of {name:?} have {expected}: a new model needs a new embedder_name"
        ))
    }

    /// Adds the vectors for texts, checked before.
    pub(super) fn add(&mut self, vectors: impl IntoIterator<Item = (Digest, Vector)>) {
        for (digest, vector) in vectors {
            self.dimensions = vector.dimensions();
            if self.known.insert(digest, Arc::new(vector)).is_none() {
                self.unsaved += 1;
            }
        }
        let known = &self.known;
        for passage in self.files.values_mut().flatten() {
            if passage.vector.is_none() {
                passage.vector = known.get(&passage.digest).cloned();
            }
        }
    }

    /// The memory with this many more vectors, in bytes.
    pub(super) fn memory_with(&self, more: usize) -> usize {
        self.known.len().saturating_add(more).saturating_mul(self.dimensions + OVERHEAD)
    }

    /// The passages that are nearest to a vector, the nearest first: the best of at most `most` files. Those without any likeness are left
    /// out.
    pub(super) fn nearest(
        &self,
        query: &Vector,
        most: usize,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<RankedPassage<'_>> {
        let mut files: Vec<Vec<(f64, RankedPassage<'_>)>> = Vec::new();
        for (path, passages) in self.files.iter().filter(|(path, _)| is_wanted(path)) {
            let ranked = passages.iter().enumerate().filter_map(|(passage, of_passage)| {
                let similarity = of_passage.vector.as_ref()?.similarity(query);
                (similarity > 0.0).then_some((similarity, RankedPassage { path, passage }))
            });
            let mut best: Vec<_> = ranked.collect();
            best.sort_unstable_by(order);
            best.truncate(BEST_PASSAGES);
            if !best.is_empty() {
                files.push(best);
            }
        }
        // Of the files and not of their passages, so a long file does not crowd out the others.
        if files.len() > most {
            files.select_nth_unstable_by(most, |a, b| order(&a[0], &b[0]));
            files.truncate(most);
        }
        let mut found: Vec<_> = files.into_iter().flatten().collect();
        found.sort_unstable_by(order);
        found.into_iter().map(|(_, ranked)| ranked).collect()
    }

    /// Makes the index and the vectors fit into `most` bytes together, if they do not: first without the vectors of removed passages, else
    /// without any.
    pub(super) fn make_room(&mut self, index: &Index, more: usize, most: usize) {
        let of_index = index.memory().saturating_add(more);
        if self.known.is_empty() || of_index.saturating_add(self.memory_with(0)) <= most {
            return;
        }
        self.update(index, 0);
        self.drop_all_unused();
        if of_index.saturating_add(self.memory_with(0)) > most {
            self.known.clear();
            self.files.clear();
            (self.unsaved, self.is_complete) = (0, false);
        }
    }

    /// Takes note that not all vectors fit beside an index of this size.
    pub(super) fn are_too_many(&mut self, index: &Index) {
        self.full_at = Some(index.memory());
        self.files.clear();
        self.is_complete = false;
    }

    /// Whether that is so, because the index has not become smaller since.
    pub(super) fn is_full(&mut self, index: &Index) -> bool {
        self.full_at = self.full_at.filter(|full| index.memory() >= *full);
        self.full_at.is_some()
    }

    /// Drops the vectors of removed passages if they are many.
    fn drop_unused(&mut self) {
        let used = self.files.values().map(Vec::len).sum::<usize>();
        if self.known.len() > used + used / 4 + FEW_UNUSED {
            self.drop_all_unused();
        }
    }

    /// Drops the vectors of removed passages.
    pub(super) fn drop_all_unused(&mut self) {
        let used = self.used();
        self.known.retain(|digest, _| used.contains(digest));
    }

    fn used(&self) -> HashSet<Digest> {
        self.files.values().flatten().map(|passage| passage.digest).collect()
    }
}

#[cfg(test)]
mod tests {
    use memdir_search::Options;

    use super::*;

    fn index(files: &[(&str, &str)]) -> Index {
        let mut index = Index::new(Options::default());
        for (path, text) in files {
            assert!(index.put(path, text, None).is_ok());
        }
        index
    }

    #[test]
    fn the_direction_of_a_vector_counts() {
        let of = |numbers: &[f32]| Vector::new(numbers).unwrap();
        let similar = |a: &[f32], b: &[f32]| of(a).similarity(&of(b));
        assert!((similar(&[3.0, 4.0], &[6e30, 8e30]) - 1.0).abs() < 1e-6);
        assert!((similar(&[1.0, 0.0], &[-1e-30, 0.0]) + 1.0).abs() < 1e-6);
        assert!(similar(&[1.0, 0.0], &[0.0, 1.0]).abs() < 1e-6);
        assert!(similar(&[0.0, 0.0], &[0.0, 1.0]).abs() < 1e-6);
        let many = vec![1.0; MOST_DIMENSIONS];
        assert!((similar(&many, &many) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn wrong_vectors_are_refused() {
        for wrong in [&[][..], &[1.0, f32::NAN], &[f32::INFINITY], &vec![1.0; MOST_DIMENSIONS + 1]]
        {
            assert!(Vector::new(wrong).is_err());
        }
        let mut vectors = Vectors::new("a".into());
        assert!(vectors.checked(2, &[vec![1.0]]).is_err());
        assert!(vectors.checked(2, &[vec![1.0], vec![1.0, 2.0]]).is_err());
        let checked = vectors.checked(1, &[vec![1.0]]).unwrap();
        vectors.add([[0; 32]].into_iter().zip(checked));
        assert!(vectors.checked(1, &[vec![1.0, 2.0]]).is_err());
    }

    #[test]
    fn each_text_needs_one_vector() {
        let mut index = index(&[("a", "tea"), ("b", "milk")]);
        let mut vectors = Vectors::new("a".into());
        let missing = vectors.update(&index, usize::MAX);
        assert_eq!(missing.len(), 2);
        let digests: Vec<Digest> = missing.iter().map(|(digest, _)| *digest).collect();
        let checked = vectors.checked(2, &[vec![1.0, 0.0], vec![0.0, 1.0]]).unwrap();
        vectors.add(digests.into_iter().zip(checked));
        assert_eq!(vectors.update(&index, usize::MAX), []);
        let query = Vector::new(&[0.1, 1.0]).unwrap();
        let paths = |vectors: &Vectors, most| -> Vec<String> {
            let nearest = vectors.nearest(&query, most, |_| true);
            nearest.iter().map(|ranked| ranked.path.to_owned()).collect()
        };
        assert_eq!(paths(&vectors, 10), ["b", "a"]);
        assert_eq!(paths(&vectors, 1), ["b"]);
        // A text that was changed and comes back has its vector.
        for (text, missing) in [("juice", 1), ("milk", 0)] {
            vectors.forget("b");
            assert!(index.put("b", text, None).is_ok());
            assert_eq!(vectors.update(&index, usize::MAX).len(), missing);
        }
        vectors.forget("b");
        index.remove("b");
        assert_eq!(vectors.update(&index, usize::MAX), []);
        assert_eq!(paths(&vectors, 10), ["a"]);
        assert_eq!(vectors.counts(), (1, 1));
    }

    #[test]
    fn a_long_file_does_not_crowd_out_the_others() {
        let journal = "tea is the word of this line, and the next line has it again\n\n".repeat(50);
        let index = index(&[("journal", &journal), ("z", "tea")]);
        let mut vectors = Vectors::new("a".into());
        let missing = vectors.update(&index, usize::MAX);
        let digests = missing.iter().map(|(digest, _)| *digest);
        let numbers = missing
            .iter()
            .map(|(_, text)| vec![if text.starts_with('z') { 0.9 } else { 1.0 }, 0.1]);
        let checked = vectors.checked(missing.len(), &numbers.collect::<Vec<_>>()).unwrap();
        vectors.add(digests.collect::<Vec<_>>().into_iter().zip(checked));
        let query = Vector::new(&[1.0, 0.1]).unwrap();
        let nearest = vectors.nearest(&query, 2, |_| true);
        assert_eq!(nearest.len(), BEST_PASSAGES + 1);
        assert_eq!(nearest[BEST_PASSAGES].path, "z");
        assert_eq!(vectors.nearest(&query, 1, |_| true).len(), BEST_PASSAGES);
    }

    #[test]
    fn vectors_of_removed_texts_are_dropped() {
        let mut vectors = Vectors::new("a".into());
        for number in 0..=u32::try_from(FEW_UNUSED).unwrap() {
            let mut digest = [0; 32];
            digest[..4].copy_from_slice(&number.to_le_bytes());
            let checked = vectors.checked(1, &[vec![1.0]]).unwrap();
            vectors.add([digest].into_iter().zip(checked));
        }
        assert_eq!(vectors.known.len(), FEW_UNUSED + 1);
        vectors.update(&index(&[]), 0);
        assert_eq!(vectors.known.len(), 0);
    }

    #[test]
    fn vectors_leave_room_for_an_index() {
        let mut index = index(&[("a", "tea"), ("b", "milk")]);
        let mut vectors = Vectors::new("a".into());
        let digests: Vec<Digest> =
            vectors.update(&index, usize::MAX).iter().map(|(digest, _)| *digest).collect();
        let checked = vectors.checked(2, &[vec![1.0, 0.0], vec![0.0, 1.0]]).unwrap();
        vectors.add(digests.into_iter().zip(checked));
        let most = index.memory() + vectors.memory_with(0);
        vectors.make_room(&index, 0, most);
        assert!(vectors.are_complete(&index));
        // The vectors of removed texts go first.
        vectors.forget("b");
        index.remove("b");
        let both = index.memory() + vectors.memory_with(0);
        vectors.make_room(&index, 0, both - 1);
        assert_eq!((vectors.known.len(), vectors.are_complete(&index)), (1, true));
        let least = index.memory() + vectors.memory_with(0);
        vectors.make_room(&index, 1, least + 1);
        assert_eq!(vectors.known.len(), 1);
        vectors.make_room(&index, 1, least);
        assert_eq!((vectors.memory_with(0), vectors.are_complete(&index)), (0, false));
        assert_eq!(vectors.update(&index, usize::MAX).len(), 1);
    }
}
