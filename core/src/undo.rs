//! [`Undo`]: what the arguments of `undo` ask for, in every language that has one method for both of its forms.

use std::time::SystemTime;

use crate::error::ConfigError;

/// What is to be taken back.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undo {
    /// The change with this id, or that made the version with it.
    Change(String),
    /// Everything that was changed from a time on, by this actor or by anybody.
    Since(SystemTime, Option<String>),
}

impl Undo {
    /// Either a change or a time, the latter also with an actor.
    ///
    /// # Errors
    /// They contradict each other, or say nothing.
    pub fn of(
        change: Option<String>,
        since: Option<SystemTime>,
        actor: Option<String>,
    ) -> Result<Self, ConfigError> {
        match (change, since, actor) {
            (Some(change), None, None) => Ok(Self::Change(change)),
            (None, Some(since), actor) => Ok(Self::Since(since, actor)),
            (Some(_), Some(_), _) => Err(ConfigError::of_option("since")
                .and(" must not be given together with ")
                .and_name("change")),
            (Some(_), None, Some(_)) => Err(ConfigError::of_option("actor")
                .and(" must be given together with ")
                .and_name("since")),
            (None, None, _) => Err(ConfigError::of_option("change")
                .and(" or ")
                .and_name("since")
                .and(" must be given")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_a_change_or_a_time_is_given() {
        let (now, text) = (SystemTime::now(), |text: &str| Some(text.to_owned()));
        assert_eq!(Undo::of(text("id"), None, None), Ok(Undo::Change("id".to_owned())));
        assert_eq!(Undo::of(None, Some(now), text("me")), Ok(Undo::Since(now, text("me"))));
        for (change, since, actor, sentence) in [
            (text("id"), Some(now), None, "since must not be given together with change"),
            (text("id"), None, text("me"), "actor must be given together with since"),
            (None, None, text("me"), "change or since must be given"),
            (None, None, None, "change or since must be given"),
        ] {
            assert_eq!(Undo::of(change, since, actor).unwrap_err().to_string(), sentence);
        }
    }
}
