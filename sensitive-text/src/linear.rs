//! Tests that a scan takes linear time, also for hostile texts.

use super::{Edit, SensitiveRule, count_steps, examples, find, numbered, redact, redacted, steps};

/// Keywords, and texts that match after them.
const PIECES: [&str; 68] = [
    "secret=",
    "token:",
    "password=",
    "pwd:",
    "pwd=a",
    "pwd=$a",
    "pwd=\"",
    "pwd='",
    "pwd=\\\"",
    "pwd=\\\\\"",
    "pwd=\"\\",
    "pwd=\"a b",
    "pwd>",
    "<pwd>",
    "<pwd>a1!b2c3",
    "<pwd>a1!b2c3</pwd>",
    "token=a1b2c3d4e5f6A7B8C9",
    "token=a1b2c3d4e5f6A7B8C9 ",
    "password: sun7-Flower!1\n",
    "--password=",
    "://",
    "://a:",
    "://a:b",
    "://a:b@",
    "://a:x7K!@h ",
    "eyJ",
    "eyJaaaaaaaa.",
    "eyJaaaaaaaa.eyJaaaaaaaa.",
    "\\neyJaaaaaaaa",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\\n",
    "-----END ",
    "-----BEGIN ",
    "AAAAgQC7Lw4Xt9Rb1Vc6Ny3Hj5Pd0GsAeT2uQi3oKxB7Zq81LmXt0bWc5RkP7vYd\n",
    "a: b\n",
    "twilio",
    "ghp_",
    "sk-ant-aa-",
    "xoxb-",
    "bearer ",
    "bearer  a",
    "4111 ",
    "4111 1111 1111 1111 ",
    "4111111111111111,",
    "4-",
    "4",
    ":AA",
    "1:AA",
    "AccountKey=",
    "?sig=",
    "パスワード",
    "Private-Lines: 1\n",
    "api_key_",
    "arn:",
    "hooks.slack.com/services/",
    "password is ",
    "authorization: token ",
    "\\",
    "é",
    "-",
    "word-",
    "Word",
    "password: word ",
    "password: WordWordWordWord",
    "pw ",
    "| password | ",
    "password for a ",
];

/// Long, unterminated texts to append to the pieces.
const TAILS: [&str; 9] = [".", "a", "1", "\\", " ", "\n", "\\\"", "A1b!", "("];

/// The smaller of the two compared sizes, in bytes. It exceeds the part that is read for one keyword.
const SMALL: usize = 4_000;

/// Generates a text of a given size.
type Shape = Box<dyn Fn(usize) -> String>;

fn shapes() -> Vec<(String, Shape)> {
    let mut shapes: Vec<(String, Shape)> = Vec::new();
    let repeated =
        |piece: String| -> Shape { Box::new(move |size| piece.repeat(size / piece.len())) };
    for example in examples::found() {
        let example = example.replace('¦', "");
        shapes.push((format!("{example:?} lines"), repeated(format!("{example}\n"))));
        shapes.push((format!("{example:?}"), repeated(example)));
    }
    for piece in PIECES {
        shapes.push((format!("{piece:?}"), repeated(piece.to_owned())));
        for tail in TAILS {
            shapes.push((
                format!("{piece:?}, then {tail:?}"),
                Box::new(move |size| {
                    piece.repeat(size / 3 / piece.len()) + &tail.repeat(size * 2 / 3 / tail.len())
                }),
            ));
        }
    }
    for pair in PIECES.windows(2) {
        shapes.push((format!("{pair:?}"), repeated(pair.concat())));
    }
    shapes
}

/// Asserts that four times the text takes about four times the steps (quadratic time would take sixteen
/// times), and that the steps per byte are limited.
fn assert_linear(what: &str, size: usize, most_per_byte: u64, steps: impl Fn(usize) -> u64) {
    let (small, large) = (steps(size), steps(4 * size));
    assert!(large <= 6 * small, "{what}: {small} steps, then {large}");
    let most = most_per_byte * 4 * size as u64;
    assert!(large <= most, "{what}: {large} steps, at most {most} are expected");
}

/// Tests the measure itself: it must detect code that reads the whole text once per byte.
#[test]
#[should_panic(expected = "a square: 16000000 steps, then 256000000")]
fn the_measure_of_linear_time_notices_a_square() {
    assert_linear("a square", SMALL, u64::MAX / 4 / SMALL as u64, |size| {
        count_steps(|| steps::add(size * size))
    });
}

/// Tests that the rules are tried on these texts.
#[test]
fn most_hostile_texts_are_looked_at() {
    let shapes = shapes();
    let scanned = shapes.iter().filter(|(_, shape)| {
        let text = shape(SMALL);
        count_steps(|| drop(find(&text, &[]))) >= text.len() as u64
    });
    let scanned = scanned.count();
    assert!(scanned * 10 >= shapes.len() * 9, "{scanned} of {}", shapes.len());
}

#[test]
fn hostile_texts_take_linear_time() {
    for (what, shape) in shapes() {
        assert_linear(&what, SMALL, 500, |size| {
            let text = shape(size);
            count_steps(|| {
                let redacted = redact(&text, &find(&text, &[]));
                assert!(redacted.matches('\n').count() == text.matches('\n').count());
            })
        });
    }
}

#[test]
fn edits_with_hostile_texts_take_linear_time() {
    for piece in PIECES {
        assert_linear(piece, SMALL, 2000, |size| {
            let text = piece.repeat(size / piece.len());
            let middle = piece.len() * (text.len() / piece.len() / 2);
            count_steps(|| {
                let found = find(&text, &[]);
                drop((numbered(&text, &found), redact(&text, &found)));
                drop(redacted(&text, &[]));
                for range in [0..text.len(), middle..middle] {
                    let edit = Edit::new(&text, range, &text).unwrap();
                    if let Some(introduced) = edit.find(&[]) {
                        drop((introduced.numbered(), introduced.redacted()));
                    }
                    let (first, lines) = edit.lines_around();
                    drop(edit.redacted_lines(first, &lines, &[]));
                }
            })
        });
    }
}

#[test]
fn rules_of_ones_own_take_linear_time() {
    for (pattern, piece) in [
        (r"BEGIN(?s:.*)END|BEGIN", "BEGIN "),
        (r"(?s)a.*$|a", "a!"),
        (r"(?s)a.*!$|a", "a!"),
        (r"(?s)a(.*z)?", "a"),
        (r"(?s)z.*y|a", "a"),
        (r"\b|(?s)a.*z", "a "),
        (r"\d+", "12 "),
        (r"\w+@|\w+", "word "),
        (r"[^x]", "é"),
    ] {
        let own = [SensitiveRule::new("own", pattern).unwrap()];
        assert_linear(pattern, SMALL / 2, 400, |size| {
            let text = piece.repeat(size / piece.len()) + "b";
            count_steps(|| drop(find(&text, &own)))
        });
    }
}

/// Slow inputs that the fuzzer found, and its seeds, in the format of its target.
#[test]
fn texts_of_the_fuzzer_take_linear_time() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus/sensitive");
    let mut texts = 0;
    for file in std::fs::read_dir(corpus).unwrap() {
        let file = file.unwrap().path();
        let input = std::fs::read_to_string(&file).unwrap().replace('¦', "");
        let mut units = input.split('\u{1f}');
        let [head, tail, pattern] = [(); 3].map(|()| units.next().unwrap_or(""));
        if head.is_empty() || head.len() + tail.len() > 256 {
            continue;
        }
        let own: Vec<SensitiveRule> = SensitiveRule::new("own", pattern).into_iter().collect();
        let what = file.display().to_string();
        assert_linear(&what, SMALL, 500, |size| {
            let times = |text: &str, bytes: usize| bytes / text.len().max(1);
            let text = head.repeat(times(head, size / 3)) + &tail.repeat(times(tail, size * 2 / 3));
            count_steps(|| drop(redact(&text, &find(&text, &own))))
        });
        texts += 1;
    }
    assert!(texts > 50, "{texts}");
}
