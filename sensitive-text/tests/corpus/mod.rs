//! The labelled corpus `corpus.jsonl`, and the score of the rules on it.
//!
//! All secrets in it are invented. The `¦` in each has no meaning and is removed when the corpus is read. It
//! keeps the scanners of hosting sites from reporting them as keys.

use memdir_sensitive_text::find;

/// A text, and the rules that should find something in it, one for each secret.
pub(crate) struct Sample {
    pub(crate) text: String,
    pub(crate) rules: Vec<String>,
}

/// The result for all samples.
#[derive(Default)]
pub(crate) struct Score {
    /// The number of secrets that the expected rule found.
    pub(crate) found: usize,
    /// False findings.
    pub(crate) wrong: Vec<String>,
    /// Secrets that were not found.
    pub(crate) missed: Vec<String>,
}

pub(crate) fn samples() -> Vec<Sample> {
    let corpus = include_str!("corpus.jsonl");
    let sample = |line: &str| {
        let sample: serde_json::Value = serde_json::from_str(line).unwrap();
        let rules = sample["rules"].as_array().unwrap();
        Sample {
            text: sample["text"].as_str().unwrap().replace('¦', ""),
            rules: rules.iter().map(|rule| rule.as_str().unwrap().to_owned()).collect(),
        }
    };
    corpus.lines().map(sample).collect()
}

pub(crate) fn score(samples: &[Sample]) -> Score {
    let mut score = Score::default();
    for Sample { text, rules } in samples {
        let mut expected = rules.clone();
        for finding in find(text, &[]) {
            match expected.iter().position(|rule| rule == finding.rule) {
                Some(at) => {
                    expected.swap_remove(at);
                    score.found += 1;
                }
                None => score.wrong.push(format!("{}: {text}", finding.rule)),
            }
        }
        score.missed.extend(expected.iter().map(|rule| format!("{rule}: {text}")));
    }
    score
}

impl Score {
    /// The fraction of findings that are correct.
    pub(crate) fn precision(&self) -> f64 {
        share(self.found, self.wrong.len())
    }

    /// The fraction of secrets that are found.
    pub(crate) fn recall(&self) -> f64 {
        share(self.found, self.missed.len())
    }
}

fn share(of: usize, rest: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap());
    number(of) / number(of + rest)
}
