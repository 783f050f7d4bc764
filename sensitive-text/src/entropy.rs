//! Distinguishes random secrets from words, placeholders and UUIDs of the same form.

/// Shannon's entropy of a text, in bits per byte. Random hexadecimal digits have at least 3.5, random letters
/// and digits more than 4.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    let share = |count: u32| f64::from(count) / length;
    -counts.iter().filter(|&&count| count > 0).map(|&n| share(n) * share(n).log2()).sum::<f64>()
}

/// Whether a token looks randomly generated.
pub(super) fn random(token: &str) -> bool {
    has_digit_or_both_cases(token) && entropy(token) >= 2.8 && !wordy(token) && !placeholder(token)
}

fn has_digit_or_both_cases(text: &str) -> bool {
    let any = |of: fn(&u8) -> bool| text.as_bytes().iter().any(of);
    any(u8::is_ascii_digit) || any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase)
}

/// Whether a text consists mostly of words: half of it is in pronounceable runs of four or more lower-case
/// letters.
pub(super) fn wordy(text: &str) -> bool {
    bytes_in_words(text) * 2 >= text.len()
}

/// Whether the rest of a token, after its known prefix, looks randomly generated. This is weaker than
/// [`random`], because the prefix is evidence as well.
pub(super) fn random_rest(rest: &str) -> bool {
    rest.bytes().any(|byte| byte.is_ascii_alphabetic())
        && has_digit_or_both_cases(rest)
        && entropy(rest) >= 2.5
        && bytes_in_words(rest) * 4 < rest.len() * 3
        && !placeholder(rest)
}

fn bytes_in_words(text: &str) -> usize {
    let vowel = |byte: &u8| b"aeiouy".contains(byte);
    // Four consonants in a row are rare in words, and frequent in random text.
    let is_word = |run: &&[u8]| {
        run.len() >= 4
            && run.iter().any(vowel)
            && run.split(vowel).all(|consonants| consonants.len() <= 3)
    };
    let runs = text.as_bytes().split(|byte| !byte.is_ascii_lowercase());
    runs.filter(is_word).map(<[u8]>::len).sum()
}

/// Whether a text is a placeholder, or refers to the location of the secret.
pub(super) fn placeholder(text: &str) -> bool {
    const SAYS_SO: [&str; 18] = [
        "...",
        "…",
        "***",
        "•••",
        "1password",
        "changeme",
        "change_me",
        "dummy",
        "example",
        "insert",
        "placeholder",
        "redacted",
        "replace",
        "sample",
        "your-",
        "your_",
        "yourapi",
        "xxxx",
    ];
    let text = text.to_ascii_lowercase();
    SAYS_SO.iter().any(|said| text.contains(said))
        || text.starts_with('<') && text.ends_with('>')
        || text.bytes().all(|byte| Some(byte) == text.bytes().next())
}

/// Whether a text is a UUID. UUIDs are usually identifiers, not secrets.
pub(super) fn uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_told_from_writing() {
        assert!(entropy("aaaaaaaa") < 0.01);
        assert!((entropy("abcdabcd") - 2.0).abs() < 1e-9);
        assert!(random("9f86d081884c7d659a2feaa0c55ad015"));
        assert!(random("Qz7RkT0pLm3XvB9s"));
        for writing in
            ["refresh_token_v2_handler", "my-example-Key-9182736455", "xxxxXXXX1234", "aaaa1111"]
        {
            assert!(!random(writing), "{writing}");
        }
        assert!(uuid("550e8400-e29b-41d4-a716-446655440000"));
        assert!(!uuid("550e8400e29b41d4a716446655440000"));
    }
}
