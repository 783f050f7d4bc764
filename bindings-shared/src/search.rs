//! The places of words in the passages that a search returns, in the units of a language's strings.

use memdir::{SearchMatch, SearchResults};

/// The unit in which a language counts the places in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextUnit {
    /// Bytes of UTF-8.
    Bytes,
    /// Code points.
    CodePoints,
    /// Code units of UTF-16.
    Utf16,
}

/// Converts the places of words, which are bytes, to another unit.
#[must_use]
pub fn in_unit(mut results: SearchResults, unit: TextUnit) -> SearchResults {
    let length: fn(&str) -> usize = match unit {
        TextUnit::Bytes => return results,
        TextUnit::CodePoints => |text| text.chars().count(),
        TextUnit::Utf16 => |text| text.encode_utf16().count(),
    };
    for passage in results.hits.iter_mut().flat_map(|hit| &mut hit.passages) {
        // The places are in ascending order, so each character is counted once.
        let (mut bytes, mut units) = (0, 0);
        let mut count = |place: u64| {
            let place = usize::try_from(place).unwrap_or(usize::MAX);
            units += passage.text.get(bytes..place).map_or(0, length) as u64;
            bytes = place;
            units
        };
        for place in &mut passage.matches {
            *place = SearchMatch { start: count(place.start), end: count(place.end) };
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use memdir::{Memory, MemoryOptions};

    use super::*;

    #[test]
    fn places_are_counted_in_each_unit() {
        let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
        memory.create("/memories/a.md", "𝕏 für grünen Tee, 😀 Tee").unwrap();
        let found = memory.search("grüner Tee", "/memories", 10).unwrap();
        let places = |unit| {
            let found = in_unit(found.clone(), unit);
            let matches = &found.hits[0].passages[0].matches;
            matches.iter().map(|place| (place.start, place.end)).collect::<Vec<_>>()
        };
        assert_eq!(places(TextUnit::Bytes), [(10, 17), (18, 21), (28, 31)]);
        assert_eq!(places(TextUnit::CodePoints), [(6, 12), (13, 16), (20, 23)]);
        assert_eq!(places(TextUnit::Utf16), [(7, 13), (14, 17), (22, 25)]);
    }
}
