//! The list of all built-in rules with keywords.

use super::cards;
use super::context::CONTEXT;
use super::private_keys::PRIVATE_KEYS;
use super::rule::Rule;
use super::tokens::TOKENS;

/// All rules, in order of precedence.
pub(super) fn rules() -> impl Iterator<Item = &'static Rule> {
    TOKENS.iter().chain(&PRIVATE_KEYS).chain(&CONTEXT)
}

/// The rule with this number.
pub(super) fn rule(number: usize) -> Option<&'static Rule> {
    let [tokens, keys] = [TOKENS.len(), TOKENS.len() + PRIVATE_KEYS.len()];
    match number {
        number if number < tokens => TOKENS.get(number),
        number if number < keys => PRIVATE_KEYS.get(number - tokens),
        number => CONTEXT.get(number - keys),
    }
}

/// The number of rules.
pub(super) fn count() -> usize {
    TOKENS.len() + PRIVATE_KEYS.len() + CONTEXT.len()
}

/// The ids of the built-in rules, without duplicates, in order of precedence.
#[must_use]
pub fn rule_ids() -> Vec<&'static str> {
    let mut ids: Vec<&str> = Vec::new();
    for id in rules().map(|rule| rule.id).chain([cards::ID]) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}
