//! Secrets that have no form of their own and are known by what stands before them: the name in an
//! assignment, the user in an address.

use std::ops::Range;

use super::likely::{entropy, placeholder, random, uuid, wordy};
use super::rule::{Candidate, Rule};

/// After these tokens, before the private keys: the more is known of a secret, the earlier.
pub(super) static CONTEXT: [Rule; 12] = [
    Rule::new(
        "aws-secret-key",
        &["secret"],
        "^(?i:secret[_ .-]?(?:access[_ .-]?)?key)[\"'`*]{0,3}[ \\t]{0,4}(?:=>|[:=|,])[ \\t]{0,4}[\"'`*]{0,3}([A-Za-z0-9/+]{40})",
        |candidate| {
            // Hexadecimal digits do not reach four bits: no hash is taken for a key.
            let after = candidate.text.as_bytes().get(candidate.extent.end);
            let ends = !after.is_some_and(|b| b.is_ascii_alphanumeric() || b"/+=".contains(b));
            (ends && entropy(candidate.value()) >= 4.0).then(|| candidate.secret.clone())
        },
    ),
    Rule::new("azure-key", &["AccountKey="], "^(?i:AccountKey)=([A-Za-z0-9+/]{86}==)", found),
    Rule::new(
        "azure-key",
        &["SharedAccessKey="],
        "^(?i:SharedAccessKey)=([A-Za-z0-9+/]{43}=)",
        found,
    ),
    Rule::new(
        "azure-signature",
        &["&sig=", "?sig="],
        "^[?&]sig=([A-Za-z0-9%+/]{40,80}(?:%3[Dd]|=))",
        found,
    ),
    Rule::new(
        "twilio-key",
        &["twilio"],
        "^(?i:twilio)[A-Za-z_ -]{0,24}[\"'`]?[ \\t]{0,4}[:=][ \\t]{0,4}[\"'`]?((?:SK)?[0-9a-f]{32})",
        |candidate| {
            let after = candidate.text.as_bytes().get(candidate.extent.end);
            let ends = !after.is_some_and(u8::is_ascii_alphanumeric);
            (ends && random(candidate.value())).then(|| candidate.secret.clone())
        },
    ),
    // The number of the bot stands before the keyword.
    Rule::new("telegram-token", &[":AA"], "^:AA[A-Za-z0-9_-]{32,34}", |candidate| {
        let before = &candidate.text.as_bytes()[..candidate.extent.start];
        let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let start = candidate.extent.start - digits;
        ((8..=10).contains(&digits) && random(candidate.value()))
            .then_some(start..candidate.extent.end)
    }),
    Rule::new(
        "url-password",
        &["://"],
        // No part may hold a colon: so it dies where the next address begins.
        "^://[^\\s:/@?#\"'<>()]*:([^\\s:@\"'<>]+)@[A-Za-z0-9\\[]",
        |candidate| {
            let password = candidate.value();
            let named = ["password", "passwort", "passwd", "pass", "pw", "pwd", "secret", "token"];
            let stands_for = placeholder(password)
                || password.starts_with(['$', '{', '[', '%'])
                || named.iter().any(|name| password.eq_ignore_ascii_case(name));
            // `http://host:80/a@b` has a port and no password.
            let port =
                password.split('/').next().is_some_and(|p| p.bytes().all(|b| b.is_ascii_digit()))
                    && password.contains('/');
            (!stands_for && !port).then(|| candidate.secret.clone())
        },
    ),
    Rule::new(
        "authorization-header",
        &["bearer "],
        "^(?i:bearer)[ \\t]{1,2}([A-Za-z0-9._~+/-]{16,}={0,2})",
        |candidate| {
            let value = candidate.value();
            (random(value) && !uuid(value)).then(|| candidate.secret.clone())
        },
    ),
    Rule::new(
        "authorization-header",
        &["authorization:"],
        "^(?i:authorization):[ \\t]{0,2}(?i:basic|token)[ \\t]{1,2}([A-Za-z0-9._~+/-]{8,}={0,2})",
        |candidate| {
            let value = candidate.value();
            (!placeholder(value) && entropy(value) >= 2.8).then(|| candidate.secret.clone())
        },
    ),
    Rule::new(
        "password-assignment",
        &[
            "password",
            "passwd",
            "passphrase",
            "passwort",
            "passcode",
            "kennwort",
            "pwd",
            "パスワード",
        ],
        "^(?i:pass(?:word|wd|phrase|wort|code)|kennwort|pwd|パスワード)[A-Za-z0-9_]{0,16}[\"'`*_]{0,3}(?:[ \\t]{0,4}(?::=|=>|==?|:|：)[*_]{0,2}|[ \\t](?:ist|is|lautet)[: \\t]|は)[ \\t]{0,4}[*_]{0,2}",
        password,
    )
    .only_where(assigned),
    Rule::new("password-assignment", &["--pass"], "^--pass(?:word|wd|phrase)?[ =]", password),
    Rule::new(
        "secret-assignment",
        &[
            "secret",
            "token",
            "api_key",
            "api-key",
            "api key",
            "apikey",
            "access_key",
            "access-key",
            "accesskey",
            "auth_key",
            "authkey",
            "private_key",
            "privatekey",
            "encryption_key",
            "signing_key",
            "master_key",
            "account_key",
            "credential",
            "api-schlüssel",
        ],
        "^(?i:secret|token|api[_ -]?key|api-schlüssel|access[_-]?key|auth_?key|private_?key|encryption_key|signing_key|master_key|account_key|credential)[A-Za-z0-9_]{0,20}[\"'`*\\]]{0,3}(?:[ \\t]{0,4}(?::=|=>|==?|:|：)[*_]{0,2}|[ \\t](?:ist|is|lautet)[: \\t])[ \\t]{0,4}[*_]{0,2}",
        secret,
    )
    .only_where(assigned),
];

/// Whether what follows a name such as `password` may assign something to it: the rest of the name,
/// and the marks around it, and then what the patterns of both kinds of names take there.
fn assigned(rest: &[u8]) -> bool {
    /// More than the patterns take.
    const MOST: usize = 32;
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_\"'`*]".contains(byte);
    let name = rest.iter().take(MOST).take_while(|&byte| in_name(byte)).count();
    let blanks = rest[name..].iter().take_while(|&byte| matches!(byte, b' ' | b'\t')).count();
    match (blanks, &rest[name + blanks..]) {
        // The first bytes of `：` and of `は`.
        (0..=4, [b':' | b'=' | 0xef, ..]) | (0, [0xe3, ..]) => true,
        // `is`, `ist`, `lautet`.
        (1, [b'i' | b'l', ..]) => true,
        _ => false,
    }
}

fn found(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    (entropy(candidate.value()) >= 2.8).then(|| candidate.secret.clone())
}

/// No value is longer, in bytes. What is looked at for each name is bounded by it.
const MAX_VALUE_BYTES: usize = 200;

/// What stands behind the match, which ends where the value begins: without its quotation marks, or
/// without the marks of a sentence or of Markdown that follow it; and whether it was quoted.
fn value(candidate: &Candidate<'_>) -> Option<(Range<usize>, bool)> {
    let start = candidate.extent.end;
    let rest = &candidate.text[start..];
    let ends = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';' | '<' | '>' | '。' | '、')
    };
    let (start, end, quoted) = match rest.chars().next()? {
        mark @ ('"' | '\'' | '`') => {
            let body = &rest[1..];
            let length = body
                .char_indices()
                .take_while(|&(at, _)| at <= MAX_VALUE_BYTES)
                .find(|&(_, c)| c == mark || c == '\n')?;
            (length.1 == mark).then_some((start + 1, start + 1 + length.0, true))?
        }
        _ => {
            let mut chars = rest.char_indices().take_while(|&(at, _)| at <= MAX_VALUE_BYTES);
            let length = chars.find(|&(_, c)| ends(c)).map_or(rest.len(), |(at, _)| at);
            let marks: &[char] = &['.', ',', ':', ')', '*', '\\'];
            let length = rest[..length].trim_end_matches(marks).len();
            (start, start + length, false)
        }
    };
    (end - start <= MAX_VALUE_BYTES).then_some((start..end, quoted))
}

/// What is assigned to a name such as `password`: also short, and thought up by somebody.
fn password(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let (range, quoted) = value(candidate)?;
    let value = &candidate.text[range.clone()];
    let letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let symbol =
        value.bytes().any(|byte| byte.is_ascii_punctuation() && !b"-_./:,".contains(&byte));
    let separated = value.contains(['-', '_', '.', '/', ':', ',']);
    let likely = value.len() >= 6
        && (digit || symbol && letter)
        && !(wordy(value) && separated && !symbol)
        && !value.contains(char::is_whitespace)
        && !placeholder(value)
        && !is_code(value, quoted)
        && !names_another_thing(candidate);
    likely.then_some(range)
}

/// What is assigned to a name such as `token`: long, and made by chance.
fn secret(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let (range, quoted) = value(candidate)?;
    let value = &candidate.text[range.clone()];
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.~+/=:-".contains(&byte);
    let likely = value.len() >= 16
        && value.bytes().all(|byte| plain(byte) || quoted && byte.is_ascii_graphic())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && entropy(value) >= 3.0
        && random(value)
        && !uuid(value)
        && !is_code(value, false)
        && !is_public(candidate)
        && !names_another_thing(candidate);
    likely.then_some(range)
}

/// Whether what is assigned is an expression, a path or an address.
fn is_code(value: &str, quoted: bool) -> bool {
    const MARKS: [&str; 8] = ["${", "{{", "$(", "://", "os.environ", "process.env", "getenv", "::"];
    let path = ["/", "./", "../", "~/", "$", "%(", "arn:"];
    // `!vault |`, a tag of YAML.
    let tag =
        value.strip_prefix('!').is_some_and(|tag| tag.bytes().all(|b| b.is_ascii_lowercase()));
    MARKS.iter().any(|mark| value.contains(mark))
        || path.iter().any(|start| value.starts_with(start))
        || !quoted && value.contains(['(', '[', '{', '<'])
        || tag
        || dotted_name(value)
}

/// `settings.auth.token`: names joined by dots.
fn dotted_name(value: &str) -> bool {
    let name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    };
    value.contains('.') && value.split('.').all(name)
}

/// Whether a longer name says that the value is about the secret: `password_reset_timeout`.
fn names_another_thing(candidate: &Candidate<'_>) -> bool {
    const ENDS: [&str; 15] = [
        "age",
        "algorithm",
        "count",
        "days",
        "endpoint",
        "expiry",
        "file",
        "header",
        "hint",
        "length",
        "name",
        "path",
        "policy",
        "timeout",
        "url",
    ];
    let matched = candidate.text[candidate.extent.clone()].to_ascii_lowercase();
    let name = matched.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
    name.is_some_and(|name| ENDS.iter().any(|end| name.ends_with(end)))
}

/// Whether the name says that the value is none of somebody's secrets.
fn is_public(candidate: &Candidate<'_>) -> bool {
    const NAMES: [&str; 9] =
        ["public", "page", "next", "continuation", "csrf", "xsrf", "cancel", "sync", "cursor"];
    let before = &candidate.text.as_bytes()[..candidate.extent.start];
    let in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let length = before.iter().rev().take(32).take_while(in_name).count();
    let name = before[before.len() - length..].to_ascii_lowercase();
    NAMES.iter().any(|public| memchr::memmem::find(&name, public.as_bytes()).is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    const AFTER: [&str; 24] = [
        ":",
        "=",
        "=>",
        ":=",
        "：",
        "は",
        " ",
        " ",
        "\t",
        "is",
        "ist",
        "lautet",
        "IS",
        "s",
        "_x",
        "\"",
        "'`",
        "*]",
        "]",
        "1234567890",
        "e",
        "-",
        "é",
        "\n",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn where_there_is_no_chance_the_pattern_does_not_match(
            after in prop::collection::vec(select(&AFTER), 0..10)
        ) {
            let after = after.concat();
            for rule in CONTEXT.iter().filter(|_| !assigned(after.as_bytes())) {
                for keyword in rule.keywords.iter().filter(|_| rule.id.ends_with("-assignment")) {
                    // The rule that begins with hyphens is asked at every keyword.
                    if !keyword.starts_with("--") {
                        let text = format!("{keyword}{after}");
                        prop_assert!(!rule.regex().unwrap().is_match(&text), "{text}");
                    }
                }
            }
        }
    }
}
