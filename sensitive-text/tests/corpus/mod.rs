//! The labelled corpus `corpus.jsonl`, and how well the rules do on it.
//!
//! All secrets in it are made up. A `¦` within each stands for nothing and is taken out when the
//! corpus is read: with it, no scanner of a hosting site takes one for somebody's key.

use memdir_sensitive_text::find;

/// One text, and the rules that should find something in it, one for each secret.
pub(crate) struct Sample {
    pub(crate) text: String,
    pub(crate) rules: Vec<String>,
}

/// What came of all samples.
#[derive(Default)]
pub(crate) struct Score {
    /// Secrets that their own rule found.
    pub(crate) found: usize,
    /// Findings that are none.
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
    /// Of the findings, how many are right.
    pub(crate) fn precision(&self) -> f64 {
        share(self.found, self.wrong.len())
    }

    /// Of the secrets, how many are found.
    pub(crate) fn recall(&self) -> f64 {
        share(self.found, self.missed.len())
    }
}

fn share(of: usize, rest: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap());
    number(of) / number(of + rest)
}
