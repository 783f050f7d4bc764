//! The amount of work in a test, and its random inputs: little and always the same, unless the environment asks for
//! more.
//!
//! - `MEMDIR_EFFORT` multiplies loops, kills, races and random inputs. It is 1 in `make test`; `make soak` sets it.
//! - `MEMDIR_SEED` is the seed of all random numbers. It is 1 by default, so a commit has one result.
#![allow(clippy::panic, reason = "a panic is how a test fails")]

use std::ops::Mul;

use proptest::test_runner::{Config, RngSeed};

fn number(name: &str) -> u32 {
    match std::env::var(name) {
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{name} is not a number: {value}")),
        Err(_) => 1,
    }
}

/// The seed of all random numbers.
pub fn seed() -> u64 {
    number("MEMDIR_SEED").into()
}

/// A number of repetitions: `count` times `MEMDIR_EFFORT`.
pub fn times<N: Mul<Output = N> + TryFrom<u32>>(count: N) -> N {
    let Ok(effort) = N::try_from(number("MEMDIR_EFFORT")) else {
        panic!("MEMDIR_EFFORT is too large")
    };
    count * effort
}

/// A number of slow repetitions: `few` by default, and with more effort `count` times `MEMDIR_EFFORT`.
pub fn times_or_few<N: Mul<Output = N> + TryFrom<u32>>(count: N, few: N) -> N {
    if number("MEMDIR_EFFORT") > 1 { times(count) } else { few }
}

/// Whether the case with this `number` runs: in a matrix that is too large for every run, one case in `of` is tried, and all
/// with an effort of `of`.
pub fn is_turn(number: usize, of: usize) -> bool {
    number.is_multiple_of((of / times(1)).max(1))
}

/// For a test with `count` times `MEMDIR_EFFORT` random inputs from `MEMDIR_SEED`.
pub fn cases(count: u32) -> Config {
    Config {
        cases: times(count),
        rng_seed: RngSeed::Fixed(seed()),
        // A finding becomes a separate test.
        failure_persistence: None,
        ..Config::default()
    }
}
