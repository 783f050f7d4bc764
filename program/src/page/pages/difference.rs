//! The diff of one version without a frame, for the script that shows it in a timeline.

use super::version::changed;
use crate::page::answer::{Done, PageAnswer};
use crate::page::params::Params;
use crate::page::site::{Room, Site};

pub(in crate::page) fn difference(_: &Site, room: &Room, params: &Params) -> PageAnswer {
    Ok(Done::Page(changed(room, params.id()?, params.layout())))
}
