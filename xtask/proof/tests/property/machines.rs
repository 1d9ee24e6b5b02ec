//! Runs the machines on random bytes, and on the fuzzer's corpus.

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::num::u8::ANY;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use raddle_proof::{Choices, MACHINES, Machine};

fn machine(name: &str) -> Machine {
    let found = MACHINES.iter().find(|(target, _)| *target == name);
    found.expect("a machine of that name").1
}

/// Runs a machine on `cases` inputs of up to `2 * length` bytes. The inputs are the same each time,
/// unless `PROPTEST_RNG_SEED` selects others. A failure prints the shortest failing input.
fn check(name: &str, cases: u32, length: usize) {
    let mut config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    if let RngSeed::Random = config.rng_seed {
        config.rng_seed = RngSeed::Fixed(0);
    }
    let run = |bytes: Vec<u8>| {
        machine(name)(&mut Choices::new(&bytes));
        Ok(())
    };
    let result = TestRunner::new(config).run(&vec(ANY, 0..=2 * length), run);
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// glommio 379; tokio 3967; compio 901: random operations, with panics in every callback.
#[test]
fn task() {
    check("task", 10_000, 250);
}

/// tokio 2387; RUSTSEC-2021-0093.
#[test]
fn queue() {
    check("queue", 5_000, 300);
}

/// tokio 8334; tokio 3190.
#[test]
fn timer() {
    check("timer", 5_000, 300);
}

/// RUSTSEC-2024-0019; tokio-core 243.
#[test]
#[cfg(unix)]
fn reactor() {
    check("reactor", 2_000, 200);
}

#[test]
fn corpora() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (target, machine) in MACHINES {
        let mut count = 0;
        for entry in fs::read_dir(corpus.join(target)).expect("each machine has a corpus") {
            let path = entry.expect("an entry of the corpus").path();
            // Printed if the test fails.
            println!("{}", path.display());
            let bytes = fs::read(path).expect("a file of the corpus");
            machine(&mut Choices::new(&bytes));
            count += 1;
        }
        assert!(count > 0, "{target}: no corpus");
    }
}
