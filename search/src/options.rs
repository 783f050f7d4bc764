//! The options of an index.

use std::time::Duration;

use crate::language::Language;

/// The options of an index.
///
/// ```
/// use memdir_search::{Index, Language, Options};
///
/// let options = Options::default().language(Language::German).max_bytes(1_000_000);
/// let mut index = Index::new(options);
/// assert!(index.put("large.txt", "x".repeat(2_000_000), None).is_err());
/// assert!(index.put("notiz.md", "Die Verträge sind fertig.", None).is_ok());
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// The language of texts in Latin letters. The default is [`Language::Auto`].
    pub language: Language,
    /// The most memory that the index may use, in bytes, as [`Index::memory`](crate::Index::memory) estimates it. The default is no limit.
    pub max_bytes: usize,
    /// Prefers files that were modified recently. The default is `None`: time has no influence.
    pub recency: Option<Recency>,
}

impl Default for Options {
    fn default() -> Self {
        Self { language: Language::Auto, max_bytes: usize::MAX, recency: None }
    }
}

impl Options {
    /// Sets the language of texts in Latin letters.
    #[must_use]
    pub fn language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// Limits the memory of the index, in bytes.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Prefers files that were modified recently.
    #[must_use]
    pub fn recency(mut self, recency: Recency) -> Self {
        self.recency = Some(recency);
        self
    }
}

/// The influence of time on the ranking.
///
/// The score of a file is multiplied by `1 + weight / (1 + age / half_life)`. The age is the time between the modification of the file and
/// that of the newest file in the index, so the order does not depend on a clock. A file without a time has no bonus.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use memdir_search::{Index, Options, Query, Recency};
///
/// let day = Duration::from_secs(86_400);
/// let recency = Recency { weight: 0.5, half_life: 30 * day };
/// let mut index = Index::new(Options::default().recency(recency));
/// let now = SystemTime::now();
/// index.put("a-year-ago.md", "Anna likes tea.", Some(now - 365 * day))?;
/// index.put("today.md", "Anna likes tea.", Some(now))?;
/// assert_eq!(index.search(&Query::text("tea"), 1)[0].path, "today.md");
/// # Ok::<(), memdir_search::IndexFull>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recency {
    /// The bonus of the newest file, as a part of its score: with 0.5 its score is half as large again. A negative number or NaN counts as 0.
    pub weight: f64,
    /// The age at which the bonus is half of that.
    pub half_life: Duration,
}
