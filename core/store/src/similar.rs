//! Finds the most similar known name, for error messages about an unknown word.

/// The known name most similar to `given`, if at most a third of it differs.
pub fn most_similar<'k>(known: impl IntoIterator<Item = &'k str>, given: &str) -> Option<&'k str> {
    let (distance, name) = known
        .into_iter()
        .map(|name| (distance(name, given), name))
        .min_by_key(|(distance, _)| *distance)?;
    (distance * 3 <= name.len()).then_some(name)
}

/// The number of bytes to add, remove or replace (Levenshtein distance).
fn distance(one: &str, other: &str) -> usize {
    // A much longer text resembles no name, and the work grows with the product of the lengths.
    if other.len() > 2 * one.len() {
        return other.len();
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_of_a_name_may_be_wrong() {
        let known = ["max_files", "max_file_bytes", "read_only"];
        for (given, meant) in [
            ("max_file", Some("max_files")),
            ("maxFiles", Some("max_files")),
            ("readOnly", Some("read_only")),
            ("colour", None),
            ("", None),
        ] {
            assert_eq!(most_similar(known, given), meant, "{given}");
        }
        assert_eq!(most_similar(known, &"x".repeat(10_000_000)), None);
        assert_eq!(most_similar([], "x"), None);
    }
}
