//! A diff alone, for the script that shows it within a timeline; or two versions compared.

use super::version::changed;
use crate::page::answer::{Answer, Done};
use crate::page::html;
use crate::page::params::Params;
use crate::page::site::{Room, Site};

pub(in crate::page) fn difference(_: &Site, room: &Room, params: &Params) -> Answer {
    let id = params.id()?;
    let Some(other) = params.other()? else {
        return Ok(Done::Page(changed(room, id, params.layout())));
    };
    let made = room.memory().diff(id, Some(other))?;
    Ok(Done::Page(html::diff(&made, params.layout())))
}
