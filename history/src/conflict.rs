//! [`Conflict`]: why a file cannot be restored.

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use memdir_store::HistoryId;
use memdir_store::path::MemoryPath;
use serde::Serialize;

use super::timeline::Moment;
use memdir_store::time::rfc3339;

/// Why a file cannot be restored: it was changed since, or something is in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Conflict {
    /// The path.
    pub path: MemoryPath,
    /// Whether something is in the way: a file where a directory is needed, or a directory or something else where a file is needed. It
    /// is never overwritten. Delete or rename it first.
    pub in_the_way: bool,
    /// The id of the newest later change of the file. `None` if it is not recorded: another program changed the file since its last
    /// version, or something is in the way.
    pub change: Option<HistoryId>,
    /// The actor of this change, as set on the memory that made it.
    pub actor: Option<String>,
    /// The time of this change. For a change by another program, the time when it was detected.
    #[serde(serialize_with = "memdir_store::time::serialize_optional")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<memdir_store::schema::Time>"))]
    pub time: Option<SystemTime>,
}

impl Conflict {
    /// The file was changed since, by an unrecorded change.
    pub(super) fn changed(path: MemoryPath) -> Self {
        Self { path, in_the_way: false, change: None, actor: None, time: None }
    }

    /// The file was changed since, by the change that made this version.
    pub(super) fn changed_by(path: MemoryPath, later: &Moment) -> Self {
        Self {
            change: Some(later.change()),
            actor: later.actor().map(str::to_owned),
            time: Some(later.id.time()),
            ..Self::changed(path)
        }
    }

    pub(super) fn in_the_way(path: MemoryPath) -> Self {
        Self { in_the_way: true, ..Self::changed(path) }
    }

    /// One conflict for each path, sorted. Being in the way takes precedence over being changed.
    pub(super) fn sorted(all: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut sorted: BTreeMap<MemoryPath, Self> = BTreeMap::new();
        for one in all {
            match sorted.get(&one.path) {
                Some(other) if other.in_the_way || !one.in_the_way => {}
                _ => drop(sorted.insert(one.path.clone(), one)),
            }
        }
        sorted.into_values().collect()
    }
}

/// The path and the change.
impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, change, actor, time, .. } = self;
        match (change, time) {
            (Some(change), Some(time)) => {
                let actor = actor.as_deref().unwrap_or("an unknown actor");
                write!(f, "{path} by {actor} at {} (change {change})", rfc3339(*time))
            }
            _ => write!(f, "{path}"),
        }
    }
}

/// The message of an error: the paths that were changed since, and the paths that are in the way.
pub(super) fn sentence(conflicts: &[Conflict], restores: bool) -> String {
    let done = if restores { "restored" } else { "undone" };
    let (in_the_way, changed): (Vec<_>, Vec<_>) =
        conflicts.iter().partition(|conflict| conflict.in_the_way);
    match (&changed[..], &in_the_way[..]) {
        (changed, []) => format!("changed since, so nothing was {done}: {}", named(changed)),
        ([], in_the_way) => {
            let in_the_way = named(in_the_way);
            format!("something else is in the way, so nothing was {done}: {in_the_way}")
        }
        (changed, in_the_way) => format!(
            "changed since, so nothing was {done}: {}; in the way: {}",
            named(changed),
            named(in_the_way)
        ),
    }
}

/// The first entries, and the number of further ones.
pub(super) fn named(all: &[impl ToString]) -> String {
    const SHOWN: usize = 20;
    let named: Vec<String> = all.iter().take(SHOWN).map(ToString::to_string).collect();
    let more = match all.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> MemoryPath {
        MemoryPath::parse(&format!("/memories/{name}")).unwrap()
    }

    #[test]
    fn a_conflict_names_what_was_changed_and_what_is_in_the_way() {
        let told = |changed: &[&str], in_the_way: &[&str]| {
            let changed = changed.iter().map(|name| Conflict::changed(path(name)));
            let in_the_way = in_the_way.iter().map(|name| Conflict::in_the_way(path(name)));
            sentence(&Conflict::sorted(changed.chain(in_the_way)), false)
        };
        assert_eq!(
            sentence(&[Conflict::changed(path("a"))], true),
            "changed since, so nothing was restored: /memories/a"
        );
        assert_eq!(told(&["a"], &[]), "changed since, so nothing was undone: /memories/a");
        assert_eq!(
            told(&[], &["b", "a"]),
            "something else is in the way, so nothing was undone: /memories/a, /memories/b"
        );
        assert_eq!(
            told(&["b", "a"], &["a"]),
            "changed since, so nothing was undone: /memories/b; in the way: /memories/a"
        );
        let many: Vec<String> = (10..32).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(told(&[], &many).ends_with("/memories/28, /memories/29 and 2 more"));
    }

    #[test]
    fn a_conflict_names_the_change_its_actor_and_its_time() {
        let id: HistoryId = "01990a3c-7c00-7123-8456-789abc000000".parse().unwrap();
        let time = rfc3339(id.time());
        for (actor, who) in [(Some("Ann"), "Ann"), (None, "an unknown actor")] {
            let conflict = Conflict {
                change: Some(id),
                actor: actor.map(str::to_owned),
                time: Some(id.time()),
                ..Conflict::changed(path("a"))
            };
            assert_eq!(
                conflict.to_string(),
                format!("/memories/a by {who} at {time} (change {id})")
            );
        }
    }
}
