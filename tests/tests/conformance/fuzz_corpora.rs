//! The fuzz targets without a fuzzer: each one passes on its committed corpus, and on inputs derived from it.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::fs;
use std::path::Path;

/// The number of inputs derived from each one.
const VARIANTS: u64 = 8;

/// The inputs of a corpus, sorted by name.
fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(name);
    let files = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut inputs: Vec<_> =
        files.map(|file| (file.display().to_string(), fs::read(&file).unwrap())).collect();
    inputs.sort();
    inputs
}

/// Names the input when a target panics.
fn passes(target: fn(&[u8]), file: &str, input: &[u8]) {
    let passed = std::panic::catch_unwind(|| target(input));
    assert!(passed.is_ok(), "{file}, or made of it: {:?}", String::from_utf8_lossy(input));
}

#[test]
fn fuzz_targets_pass_on_their_corpora() {
    for (name, target) in memdir_fuzz::TARGETS {
        let inputs = corpus(name);
        assert!(inputs.len() > 20, "{name} has {} inputs", inputs.len());
        for (file, input) in &inputs {
            passes(target, file, input);
        }
    }
}

#[test]
fn fuzz_targets_pass_on_variants_of_their_corpora() {
    for (name, target) in memdir_fuzz::TARGETS {
        let inputs = corpus(name);
        // The same ones each time (SplitMix64).
        let mut state = 10_u64;
        let mut random = |below: usize| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            usize::try_from((mixed ^ (mixed >> 31)) % (below.max(1) as u64)).unwrap()
        };
        for (file, input) in &inputs {
            for _ in 0..VARIANTS {
                let other = &inputs[random(inputs.len())].1;
                let variant = varied(input, other, &mut random);
                passes(target, file, &variant);
            }
        }
    }
}

/// The input with a few changes, some of them parts of another one.
fn varied(input: &[u8], other: &[u8], random: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random(3) {
        let at = random(bytes.len() + 1);
        let end = at + random(bytes.len() + 1 - at).min(16);
        let start = random(other.len() + 1);
        let piece = &other[start..start + random(other.len() + 1 - start)];
        match random(5) {
            0 => drop(bytes.drain(at..end)),
            1 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            2 => drop(bytes.splice(at..end, piece.iter().copied())),
            3 => bytes.insert(at, b"\x1e\x1f\n/%\"a0"[random(8)]),
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random(8);
                }
            }
        }
    }
    bytes
}
