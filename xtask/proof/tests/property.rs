//! The machines by seeds, and on what the fuzzer kept.
#![cfg(not(raddle_loom))]

use raddle_proof::{MACHINES, Machine, seeded};

fn machine(name: &str) -> Machine {
    let found = MACHINES.iter().find(|(target, _)| *target == name);
    found.expect("a machine of that name").1
}

/// glommio 379; tokio 3967; compio 901: of random operations, with panics in every
/// callback.
#[test]
fn task() {
    seeded::seeds(machine("task"), 10_000, 250);
}

/// tokio 2387; RUSTSEC-2021-0093.
#[test]
fn queue() {
    seeded::seeds(machine("queue"), 5_000, 300);
}

/// tokio 8334; tokio 3190.
#[test]
fn timer() {
    seeded::seeds(machine("timer"), 5_000, 300);
}

/// RUSTSEC-2024-0019; tokio-core 243.
#[test]
#[cfg(unix)]
fn reactor() {
    seeded::seeds(machine("reactor"), 2_000, 200);
}

#[test]
fn corpora() {
    for (target, machine) in MACHINES {
        assert!(seeded::corpus(*machine, target) > 0, "{target}: no corpus");
    }
}
