//! Running a machine by seeds, and by the inputs that a fuzzer kept.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use crate::{Choices, Machine};

/// Runs a machine once for each seed; a seed decides on `length` bytes.
/// `RADDLE_SEED` stands for all of them.
///
/// # Panics
///
/// If the machine does; the seed is printed before.
pub fn seeds(machine: Machine, count: u64, length: usize) {
    let only = std::env::var("RADDLE_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let (from, to) = only.map_or((0, count), |seed| (seed, seed + 1));
    for seed in from..to {
        run(
            machine,
            &bytes(seed, length),
            &format!("RADDLE_SEED={seed}"),
        );
    }
}

/// Runs a machine on each file of its corpus, and says how many there are.
///
/// # Panics
///
/// If the machine does, or if the corpus cannot be read.
pub fn corpus(machine: Machine, target: &str) -> usize {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    let entries = fs::read_dir(dir.join(target)).expect("the corpus is a directory");
    let mut count = 0;
    for entry in entries {
        let path = entry.expect("an entry of the corpus").path();
        let bytes = fs::read(&path).expect("a file of the corpus");
        run(machine, &bytes, &path.display().to_string());
        count += 1;
    }
    count
}

fn run(machine: Machine, bytes: &[u8], name: &str) {
    let ran = catch_unwind(AssertUnwindSafe(|| machine(&mut Choices::new(bytes))));
    if let Err(payload) = ran {
        eprintln!("the failure is that of {name}");
        resume_unwind(payload);
    }
}

/// SplitMix64.
fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bytes.extend((word ^ (word >> 31)).to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}
