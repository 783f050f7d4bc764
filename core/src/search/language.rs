//! The option `search_language`.

use memdir_search::Language;
use memdir_store::{ConfigError, Error};

/// The language of texts in Latin letters, whose endings a search ignores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SearchLanguage {
    /// The language of each file is detected.
    #[default]
    Auto,
    /// No language: a word is found only in the form of the query.
    None,
    /// Danish.
    Danish,
    /// Dutch.
    Dutch,
    /// English.
    English,
    /// Finnish.
    Finnish,
    /// French.
    French,
    /// German.
    German,
    /// Italian.
    Italian,
    /// Norwegian.
    Norwegian,
    /// Polish.
    Polish,
    /// Portuguese.
    Portuguese,
    /// Spanish.
    Spanish,
    /// Swedish.
    Swedish,
    /// Turkish.
    Turkish,
}

impl SearchLanguage {
    pub(super) fn of_index(self) -> Language {
        match self {
            Self::Auto => Language::Auto,
            Self::None => Language::None,
            Self::Danish => Language::Danish,
            Self::Dutch => Language::Dutch,
            Self::English => Language::English,
            Self::Finnish => Language::Finnish,
            Self::French => Language::French,
            Self::German => Language::German,
            Self::Italian => Language::Italian,
            Self::Norwegian => Language::Norwegian,
            Self::Polish => Language::Polish,
            Self::Portuguese => Language::Portuguese,
            Self::Spanish => Language::Spanish,
            Self::Swedish => Language::Swedish,
            Self::Turkish => Language::Turkish,
        }
    }
}

impl std::str::FromStr for SearchLanguage {
    type Err = Error;

    /// Parses `"auto"`, `"none"`, or the English name of a language in small letters.
    fn from_str(word: &str) -> Result<Self, Error> {
        ConfigError::parse_word(
            "search_language",
            &[
                ("auto", Self::Auto),
                ("none", Self::None),
                ("danish", Self::Danish),
                ("dutch", Self::Dutch),
                ("english", Self::English),
                ("finnish", Self::Finnish),
                ("french", Self::French),
                ("german", Self::German),
                ("italian", Self::Italian),
                ("norwegian", Self::Norwegian),
                ("polish", Self::Polish),
                ("portuguese", Self::Portuguese),
                ("spanish", Self::Spanish),
                ("swedish", Self::Swedish),
                ("turkish", Self::Turkish),
            ],
            word,
        )
    }
}
