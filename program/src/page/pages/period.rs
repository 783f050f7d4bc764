//! The fields of a form that selects the changes of an actor since a time, for the timeline and for undo.

use std::collections::HashSet;

use maud::{Markup, html};

use super::changes::at;
use crate::page::answer::Refusal;
use crate::page::html::{shown, spelled, zone_name};
use crate::page::params::{Params, given};
use crate::page::site::Room;
use crate::with::with;
use memdir::path::MemoryPath;

/// The number of versions searched for actors, and the maximum number of actors in the list. In the timeline, every actor is a link.
const LOOKED_AT: usize = 2_000;
const ACTORS: usize = 200;

/// The times of the preset buttons.
const PRESETS: [(&str, &str); 4] = [
    ("1h", "Last hour"),
    ("today", "Today"),
    ("yesterday", "Since yesterday"),
    ("7d", "Last 7 days"),
];

/// The actor and the time as typed, with an error about the time. `buttons` are the buttons of the form. The Enter key presses the
/// first one, so they come before the presets, which are also buttons so that they work without a script.
pub(super) fn fields(
    room: &Room,
    path: &MemoryPath,
    params: &Params,
    problem: Option<&str>,
    buttons: &Markup,
) -> Result<Markup, Refusal> {
    let chosen = params.actor();
    let actors = actors(room, path, chosen)?;
    let described = if problem.is_some() { "since-problem since-help" } else { "since-help" };
    Ok(html! {
        label {
            "Who "
            select name="actor" {
                option value="" selected[chosen.is_none()] { "Anyone" }
                @for actor in &actors {
                    option value=(actor) selected[chosen == Some(actor)] { (spelled(actor)) }
                }
            }
        }
        label {
            "Since "
            input #since name="since" value=[params.typed_since()] placeholder="2h, 14:30, today" autocomplete="off"
                spellcheck="false" aria-describedby=(described) aria-invalid=[problem.map(|_| "true")]
                autofocus[problem.is_some()];
        }
        // The script sets the zone.
        input type="hidden" name="zone" value=[given(&params.zone)];
        (buttons)
        @if let Some(problem) = problem { p #since-problem .wrong role="alert" { (shown(problem)) } }
        div.presets role="group" aria-label="Times to choose from" {
            @for (time, name) in PRESETS {
                button.small type="submit" name="preset" value=(time) { (name) }
            }
        }
        p #since-help .help {
            "A time such as 14:30, yesterday 9:00 or 2026-03-14, or how long ago, such as 30m or 2h. Its zone is "
            span data-zone { (zone_name(params.zone())) } "."
        }
    })
}

/// The actors of changes here, latest first, and the chosen one in any case.
fn actors(room: &Room, path: &MemoryPath, chosen: Option<&str>) -> Result<Vec<String>, Refusal> {
    let query = with(at(path), |query| query.limit = Some(LOOKED_AT));
    let versions = room.memory().history(&query)?;
    let mut seen = HashSet::new();
    let found = versions.into_iter().filter_map(|version| version.actor);
    let mut actors: Vec<_> =
        found.filter(|actor| seen.insert(actor.clone())).take(ACTORS).collect();
    if let Some(chosen) = chosen.filter(|chosen| !actors.iter().any(|actor| actor == chosen)) {
        actors.insert(0, chosen.to_owned());
    }
    Ok(actors)
}

/// The parameters of an address that selects the same changes.
pub(super) fn carried(params: &Params) -> Vec<(&'static str, &str)> {
    let all =
        [("actor", params.actor()), ("since", params.typed_since()), ("zone", given(&params.zone))];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
