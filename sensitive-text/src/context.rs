//! Secrets without a format of their own, which are identified by the text before them: the user in an address, the
//! name in an `assignment`.

use std::ops::Range;

use super::assignment::{assigned, password, secret, short_name};
use super::entropy::{entropy, placeholder, random, uuid};
use super::rule::{Candidate, Rule, run_end};
use super::steps;

/// The pattern of an assignment to a name. The name and the marks around it are followed by an optional remark
/// (`password (router):`, `the password for the router is`), and then by one of:
/// - an operator: `:`, `=`, `=>`, `!=`, `->`, a dash between blanks, the `,` between two arguments;
/// - a verb: `is`, `ist`, `lautet`, `est`, `es`, `は`;
/// - the border of a table cell, or the end of an XML tag;
/// - only blanks, if the name is not between marks and a quotation mark follows. The group is this mark.
macro_rules! assigned_to {
    ($name:literal) => {
        concat!(
            "^",
            $name,
            "(?:[\\\\\"'`*_\\]]{0,6}(?:",
            "(?:[ \\t]{1,2}\\([^()\\n]{1,32}\\)|[ \\t](?:for|of|fürs?|vom|von|pour|para|del?|du|d[oa]|van|voor)[ \\t][^\\n:=,;\"`|<>()]{1,40}?)?",
            "(?:(?: [Ss]tring)?[ \\t]{0,4}(?:[:?!.]{0,3}={1,3}>?|:|：)[*_]{0,2}",
            "|[ \\t](?:ist|is|lautet|est|es|é)[: \\t]|は",
            "|[ \\t]{1,4}(?:[-–—]|->|→)[ \\t]|[ \\t]{0,4}\\|)",
            "|[\"'],",
            ")|[*_]{0,2}[ \\t]{1,4}([\"'`])",
            "|>)[ \\t]{0,4}[*_]{0,2}"
        )
    };
}

/// They come last in the order of precedence, after the tokens and the private keys, because more specific rules come
/// first.
pub(super) static CONTEXT: [Rule; 15] = [
    Rule::new(
        "aws-secret-key",
        &["secret"],
        "^(?i:secret[_ .-]?(?:access[_ .-]?)?key)[\"'`*]{0,3}[ \\t]{0,4}(?:=>|[:=|,])[ \\t]{0,4}[\"'`*]{0,3}([A-Za-z0-9/+]{40})",
        |candidate| {
            // Hexadecimal digits have less than four bits of entropy each, so a hash does not count as a key.
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
    // The id of the bot precedes the keyword.
    Rule::new("telegram-token", &[":AA"], "^:AA[A-Za-z0-9_-]{32,34}", |candidate| {
        let before = &candidate.text.as_bytes()[..candidate.extent.start];
        // One digit more than the limit, to detect longer numbers.
        let digits = before.iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
        let start = candidate.extent.start - digits;
        ((8..=10).contains(&digits) && random(candidate.value()))
            .then_some(start..candidate.extent.end)
    }),
    Rule::new(
        "url-password",
        &["://"],
        "^://",
        |candidate| {
            let range = url_password(candidate.text, candidate.extent.end)?;
            let password = &candidate.text[range.clone()];
            steps::add(password.len());
            let named = ["password", "passwort", "passwd", "pass", "pw", "pwd", "secret", "token"];
            let stands_for = placeholder(password)
                || password.starts_with(['$', '{', '[', '%'])
                || named.iter().any(|name| password.eq_ignore_ascii_case(name));
            // `http://host:80/a@b` contains a port and not a password.
            let port =
                password.split('/').next().is_some_and(|p| p.bytes().all(|b| b.is_ascii_digit()))
                    && password.contains('/');
            (!stands_for && !port).then_some(range)
        },
    ),
    Rule::new(
        "authorization-header",
        &["bearer "],
        "^(?i:bearer)[ \\t]{1,2}([A-Za-z0-9._~+/-]{16})",
        |candidate| {
            let range = header_value(candidate);
            let value = &candidate.text[range.clone()];
            (random(value) && !uuid(value)).then_some(range)
        },
    ),
    Rule::new(
        "authorization-header",
        &["authorization:"],
        "^(?i:authorization):[ \\t]{0,2}(?i:basic|token)[ \\t]{1,2}([A-Za-z0-9._~+/-]{8})",
        |candidate| {
            let range = header_value(candidate);
            let value = &candidate.text[range.clone()];
            (!placeholder(value) && entropy(value) >= 2.8).then_some(range)
        },
    ),
    Rule::new(
        "authorization-header",
        &["authorization:"],
        "^(?i:authorization):[ \\t]{0,2}[A-Za-z][A-Za-z-]{1,15}[ \\t]{1,2}([A-Za-z0-9._~+/-]{16})",
        |candidate| {
            let range = header_value(candidate);
            random(&candidate.text[range.clone()]).then_some(range)
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
            "contraseña",
            "contrasena",
            "mot de passe",
            "senha",
            "wachtwoord",
            "パスワード",
        ],
        assigned_to!(
            "(?i:pass(?:word|wd|phrase|wort|code)|kennwort|pwd|contrase(?:ñ|n)a|mot de passe|senha|wachtwoord|パスワード)[A-Za-z0-9_]{0,20}"
        ),
        password,
    )
    .only_where(assigned),
    // These are names only as whole words, because many other words end with them.
    Rule::new("password-assignment", &["pass"], assigned_to!("(?i:pass)[0-9]{0,2}"), short_name)
        .only_where(assigned),
    // A keyword has at least three bytes, so these include the first character after the name.
    Rule::new(
        "password-assignment",
        &["pw:", "pw=", "pw ", "pw|", "pw\"", "pw'", "pw`", "pw*", "pw\\"],
        assigned_to!("(?i:pw)"),
        short_name,
    ),
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
        assigned_to!(
            "(?i:secret|token|api[_ -]?key|api-schlüssel|access[_-]?key|auth_?key|private_?key|encryption_key|signing_key|master_key|account_key|credential)[A-Za-z0-9_]{0,20}"
        ),
        secret,
    )
    .only_where(assigned),
];

fn found(candidate: &Candidate<'_>) -> Option<Range<usize>> {
    (entropy(candidate.value()) >= 2.8).then(|| candidate.secret.clone())
}

/// The password in the address whose user starts at `at`. Neither part contains a colon, so both end before the next
/// address.
fn url_password(text: &str, at: usize) -> Option<Range<usize>> {
    let ends = |byte: u8| byte.is_ascii_whitespace() || b":@\"'<>".contains(&byte);
    let user = run_end(text, at, |byte| !ends(byte) && !b"/?#()".contains(&byte));
    text[user..].strip_prefix(':')?;
    let end = run_end(text, user + 1, |byte| !ends(byte));
    let host = text[end..].strip_prefix('@')?;
    let is_host = host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[');
    (end > user + 1 && is_host).then_some(user + 1..end)
}

/// The whole value of a header whose start was matched. It contains no blank, but the keyword does.
fn header_value(candidate: &Candidate<'_>) -> Range<usize> {
    let Range { start, end } = candidate.secret;
    let in_value = |byte: u8| byte.is_ascii_alphanumeric() || b"._~+/-".contains(&byte);
    let end = run_end(candidate.text, end, in_value);
    let padding = candidate.text[end..].bytes().take(2).take_while(|&byte| byte == b'=').count();
    steps::add(end - start);
    start..end + padding
}
