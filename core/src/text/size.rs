//! Sizes as a listing shows them.

/// Formats a file's size in the documentation's notation. Below 1,024 it is in bytes (`0B`, `1023B`). From
/// there on it has one decimal and K, M, G or T in powers of 1,024 (`1.5K`, `2.0K`, `1.2M`).
///
/// ```
/// use memdir::text::human_size;
///
/// assert_eq!(human_size(1023), "1023B");
/// assert_eq!(human_size(1536), "1.5K");
/// assert_eq!(human_size(1024 * 1024 - 1), "1.0M");
/// ```
#[must_use]
pub fn human_size(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    #[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
    let mut amount = bytes as f64;
    let mut unit = ' ';
    for next in ['K', 'M', 'G', 'T'] {
        // An amount that would be rounded to 1024.0 becomes 1.0 of the next unit.
        if unit != ' ' && amount < 1023.95 {
            break;
        }
        amount /= 1024.0;
        unit = next;
    }
    format!("{amount:.1}{unit}")
}

#[cfg(test)]
mod tests {
    use super::human_size;

    #[test]
    fn sizes_have_one_decimal_and_never_reach_1024_of_a_unit() {
        const K: u64 = 1024;
        for (bytes, shown) in [
            (0, "0B"),
            (13, "13B"),
            (K - 1, "1023B"),
            (K, "1.0K"),
            (K + K / 2, "1.5K"),
            (2 * K, "2.0K"),
            (K * K - 52, "1023.9K"),
            (K * K - 51, "1.0M"),
            (K * K * 12 / 10, "1.2M"),
            (K * K * K, "1.0G"),
            (K * K * K * K, "1.0T"),
            (K * K * K * K * 5000, "5000.0T"),
        ] {
            assert_eq!(human_size(bytes), shown, "{bytes}");
        }
    }
}
