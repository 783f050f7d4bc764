//! [`Error`]: why a call failed. `Memory::execute` returns every failure as a reply; the typed methods return an
//! [`Error`].

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

use crate::similar::most_similar;
use crate::{Effect, ErrorKind, Refused, StoreError};

/// Why a hook failed. For you, never for the model.
pub type HookError = Box<dyn StdError + Send + Sync>;

/// Why a call of a typed method failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command was refused, and nothing was changed. Contains the exact reply for the model, and the kind of
    /// refusal.
    #[error("{0}")]
    Refused(Refused),
    /// The store itself failed: a disk error, an unreachable server. The details are for you and not for the model.
    #[error("the memory store failed: {0}")]
    Store(#[source] StoreError),
    /// The hook `before` failed, and the command was not executed. The details are for you and not for the model.
    #[error("the hook `before` failed: {0}")]
    Hook(#[source] HookError),
    /// The store's address or an option is wrong.
    #[error("{0}")]
    Config(ConfigError),
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl Error {
    /// The error for a wrong address or option.
    pub fn config(problem: impl Into<ConfigError>) -> Self {
        Self::Config(problem.into())
    }

    /// The kind of the error.
    ///
    /// ```
    /// use memdir::{ErrorKind, Memory, MemoryOptions};
    ///
    /// let memory = Memory::open("memory:", MemoryOptions::default())?;
    /// let error = memory.view("/memories/missing.md", None).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::NotFound);
    /// # Ok::<(), memdir::Error>(())
    /// ```
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Refused(refused) => refused.kind(),
            Self::Store(error) if error.is_failure() => error.kind(),
            // A condition without a sentence for the model changed nothing.
            Self::Store(_) => ErrorKind::Unavailable,
            Self::Hook(_) => ErrorKind::HookFailed,
            Self::Config(_) => ErrorKind::Config,
        }
    }

    /// The same error. If the store failed, the failure gets this effect.
    pub fn with_effect(self, effect: Effect) -> Self {
        match self {
            Self::Store(error) => Self::Store(error.with_effect(effect)),
            other => other,
        }
    }
}

/// The problem with an option or with a store's address.
///
/// `Display` shows a sentence with the names of options in Rust's case. A binding shows it [in the
/// case](Self::in_case) of its language.
///
/// ```
/// use memdir::{ConfigError, NameCase};
///
/// let error = ConfigError::of_option("max_files").and(" must be a whole number").got(-1);
/// assert_eq!(error.to_string(), "max_files must be a whole number, got -1");
/// assert_eq!(error.in_case(NameCase::Camel), "maxFiles must be a whole number, got -1");
/// assert_eq!((error.option(), error.value()), (Some("max_files"), Some("-1")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    option: Option<String>,
    value: Option<String>,
    sentence: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Cow<'static, str>),
    /// The name of an option or a method, in Rust's case.
    Name(String),
}

/// How a language writes a name of several words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameCase {
    /// `max_view_chars`.
    Snake,
    /// `maxViewChars`.
    Camel,
}

impl ConfigError {
    /// A sentence that begins with the name of the invalid option.
    #[must_use]
    pub fn of_option(name: &str) -> Self {
        let (option, name) = (Some(name.to_owned()), Part::Name(name.to_owned()));
        Self { option, value: None, sentence: vec![name] }
    }

    /// Parses an option whose value is one of several words.
    ///
    /// # Errors
    /// [`Error::Config`] if the value is not one of the words.
    pub fn parse_word<T: Clone>(
        option: &str,
        words: &[(&str, T)],
        given: &str,
    ) -> Result<T, Error> {
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == given) {
            return Ok(value.clone());
        }
        let quoted: Vec<_> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        let (last, others) =
            quoted.split_last().map_or(("", &[][..]), |(last, others)| (&**last, others));
        let sentence = format!(" must be {} or {last}", others.join(", "));
        Err(Self::of_option(option).and(sentence).got(format_args!("{given:?}")).into())
    }

    /// The error for an option that does not exist. `known` are the existing options, as the caller writes them. The
    /// sentence lists them if there are only a few, and otherwise names the most similar one.
    #[must_use]
    pub fn unknown_option(name: &str, known: &[&str]) -> Self {
        const FEW: usize = 8;
        let shown = match name.char_indices().nth(100) {
            None => name.to_owned(),
            Some((cut, _)) => format!("{}…", &name[..cut]),
        };
        let mut sentence = format!("there is no option {shown}");
        match known {
            [] => sentence.push_str("; there are none"),
            [only] => sentence.push_str(&format!("; there is only {only}")),
            [others @ .., last] if known.len() <= FEW => {
                sentence.push_str(&format!("; there are {} and {last}", others.join(", ")));
            }
            _ => {
                if let Some(meant) = most_similar(known.iter().copied(), name) {
                    sentence.push_str(&format!("; did you mean {meant}?"));
                }
            }
        }
        Self::from(sentence).about(name)
    }

    /// Appends a text to the sentence.
    #[must_use]
    pub fn and(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.sentence.push(Part::Text(text.into()));
        self
    }

    /// Appends the name of an option or a method to the sentence.
    #[must_use]
    pub fn and_name(mut self, name: &str) -> Self {
        self.sentence.push(Part::Name(name.to_owned()));
        self
    }

    /// Ends the sentence with the given value. Never call it with a secret.
    #[must_use]
    pub fn got(mut self, value: impl fmt::Display) -> Self {
        let value = value.to_string();
        self = self.and(format!(", got {value}"));
        self.value = Some(value);
        self
    }

    /// The same error about another value.
    #[must_use]
    pub fn got_instead(mut self, value: impl fmt::Display) -> Self {
        if self.value.take().is_some() {
            self.sentence.pop();
        }
        self.got(value)
    }

    /// The same error with another name for its option, such as `old_key` for `encryption_key`.
    #[must_use]
    pub fn renamed(mut self, name: &str) -> Self {
        if let Some(Part::Name(first)) = self.sentence.first_mut() {
            name.clone_into(first);
        }
        self.about(name)
    }

    /// The same error, attributed to an option that its sentence does not begin with.
    #[must_use]
    pub fn about(mut self, option: &str) -> Self {
        self.option = Some(option.to_owned());
        self
    }

    /// The invalid option, in Rust's case; `None` if the address is wrong.
    #[must_use]
    pub fn option(&self) -> Option<&str> {
        self.option.as_deref()
    }

    /// The given value, as the sentence shows it. `None` if it could be a secret, or if the value is not the problem.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// The invalid option, in that case; `None` if the address is wrong.
    #[must_use]
    pub fn option_in_case(&self, case: NameCase) -> Option<String> {
        self.option().map(|name| case.of(name))
    }

    /// The sentence, with all names in that case.
    #[must_use]
    pub fn in_case(&self, case: NameCase) -> String {
        let written = |part: &Part| match part {
            Part::Text(text) => text.clone().into_owned(),
            Part::Name(name) => case.of(name),
        };
        self.sentence.iter().map(written).collect()
    }
}

impl NameCase {
    /// A name in this case.
    ///
    /// ```
    /// use memdir::NameCase;
    ///
    /// assert_eq!(NameCase::Camel.of("max_view_chars"), "maxViewChars");
    /// ```
    #[must_use]
    pub fn of(self, name: &str) -> String {
        match self {
            Self::Snake => name.to_owned(),
            Self::Camel => {
                let mut after_underscore = false;
                let mut written = String::with_capacity(name.len());
                for letter in name.chars() {
                    if letter != '_' {
                        let upper = after_underscore;
                        written.push(if upper { letter.to_ascii_uppercase() } else { letter });
                    }
                    after_underscore = letter == '_';
                }
                written
            }
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_case(NameCase::Snake))
    }
}

impl StdError for ConfigError {}

impl From<&'static str> for ConfigError {
    fn from(sentence: &'static str) -> Self {
        Self { option: None, value: None, sentence: Vec::new() }.and(sentence)
    }
}

impl From<String> for ConfigError {
    fn from(sentence: String) -> Self {
        Self { option: None, value: None, sentence: Vec::new() }.and(sentence)
    }
}
