//! Times as arguments: of RFC 3339, or how long ago.

use std::time::{Duration, SystemTime};

use crate::history::time::from_text;

/// `2026-03-14T15:09:26Z`, `2026-03-14`, or `30m`, `2h`, `3d`, `1w`, which are so long ago.
pub(super) fn parse_time(text: &str) -> Result<SystemTime, String> {
    from_text(text).or_else(|| so_long_ago(text)).ok_or_else(|| {
        "use a time such as 2026-03-14T15:09:26Z or 2026-03-14, or how long ago, such as 30m, 2h, 3d, 1w"
            .to_owned()
    })
}

fn so_long_ago(text: &str) -> Option<SystemTime> {
    // Before 1970 there was nothing.
    let now = SystemTime::now();
    let time = now.checked_sub(duration(text)?).unwrap_or(SystemTime::UNIX_EPOCH);
    Some(time.max(SystemTime::UNIX_EPOCH))
}

/// `30m`, `2h`, `3d`, `1w`; not nothing.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    duration(text).filter(|duration| !duration.is_zero()).ok_or_else(|| {
        "use a number of seconds, minutes, hours, days or weeks, such as 45s, 30m, 2h, 3d, 1w"
            .to_owned()
    })
}

fn duration(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(Duration::from_secs(digits.parse::<u64>().ok()?.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_may_be_so_long_ago() {
        for (text, seconds) in
            [("0s", 0), ("45s", 45), ("30m", 1800), ("2h", 7200), ("3d", 259_200), ("1w", 604_800)]
        {
            let time = parse_time(text).unwrap();
            let ago = SystemTime::now().duration_since(time).unwrap();
            assert!(ago.as_secs().abs_diff(seconds) < 10, "{text}: {ago:?}");
        }
        assert_eq!(parse_time("90000000w"), Ok(SystemTime::UNIX_EPOCH));
        assert!(parse_time("2026-03-14").is_ok());
        for text in ["", "h", "2", "-2h", "+2h", "2 h", "2.5h", "2H", "2é", "99999999999999999999s"]
        {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }
}
