//! A sort that is compiled once for all types. The standard library's is compiled anew for each type and each order,
//! which is 4 to 5 KB each time, and was 70 KB of the library that apps carry.

use std::cmp::Ordering;

/// Sorts like [`slice::sort_by`]: what is equal stays in its order. For lists that are short or made anew for a reply;
/// each element is moved twice.
pub(crate) fn sort_by<T>(items: &mut Vec<T>, order: impl Fn(&T, &T) -> Ordering) {
    if items.len() < 2 {
        return;
    }
    let mut positions: Vec<usize> = (0..items.len()).collect();
    sort_positions(&mut positions, &|a, b| order(&items[a], &items[b]));
    let mut unsorted: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(positions.into_iter().filter_map(|position| unsorted[position].take()));
}

/// Behind a function of its own and a `dyn`, as it is what shall be compiled once.
#[inline(never)]
fn sort_positions(positions: &mut [usize], order: &dyn Fn(usize, usize) -> Ordering) {
    positions.sort_by(|a, b| order(*a, *b));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(crate::effort::cases(100))]
        #[test]
        fn it_sorts_as_the_standard_library_does(mut items: Vec<(u8, String)>) {
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            sort_by(&mut items, |a, b| a.0.cmp(&b.0));
            prop_assert_eq!(items, expected);
        }
    }
}
