//! Runs programs on both libraries. If the libraries differ on a program, shrinks the program.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime};

use proptest::collection::vec;
use proptest::num::u8::ANY;
use proptest::strategy::Strategy as _;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use crate::record;

/// The bytes of one step, which are read as [`raddle_proof::Choices`].
pub(crate) type Step = [u8; 8];

/// Runs a program on one of the libraries. The first step makes the object of the program.
pub(crate) type Run = fn(&[Step]);

/// The default number of seeds per primitive.
const SEEDS: u64 = 10_000;
const MAX_STEPS: usize = 48;

/// Runs the programs of the first seeds on both libraries. `RADDLE_SEED` runs only that seed; with
/// `RADDLE_MINUTES` it is the first of as many seeds as the time allows.
///
/// # Panics
///
/// Panics if the records differ. The message names the seed, and shows the shortest program found
/// on which they differ.
pub(crate) fn compare(raddle: Run, tokio: Run) {
    let variable = |name| std::env::var(name).ok()?.parse::<u64>().ok();
    let seed = variable("RADDLE_SEED");
    if let Some(minutes) = variable("RADDLE_MINUTES") {
        let end = Instant::now() + Duration::from_secs(60 * minutes);
        let from = seed.unwrap_or_else(now);
        (from..)
            .take_while(|_| Instant::now() < end)
            .for_each(|seed| {
                check(seed, raddle, tokio);
            });
    } else {
        let seeds = seed.map_or(0..SEEDS, |seed| seed..seed + 1);
        seeds.for_each(|seed| check(seed, raddle, tokio));
    }
}

/// Returns a seed that differs on each call.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() << 24)
}

fn check(seed: u64, raddle: Run, tokio: Run) {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..].copy_from_slice(&(!seed).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::XorShift, &bytes);
    let config = Config {
        failure_persistence: None,
        max_shrink_iters: 10_000,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, random);
    let steps = vec([ANY; 8], 2..MAX_STEPS);
    let steps = steps.new_tree(&mut runner).expect("no program is rejected");
    let result = runner.run_one(steps, |program| {
        difference(&program, raddle, tokio).map_or(Ok(()), |text| Err(TestCaseError::fail(text)))
    });
    if let Err(TestError::Fail(text, _)) = result {
        panic!("RADDLE_SEED={seed}\n{text}");
    }
}

/// Returns the steps up to the first whose lines differ, and both lines.
fn difference(program: &[Step], raddle: Run, tokio: Run) -> Option<String> {
    let (raddle, raddle_needless) = recorded(program, raddle);
    let (tokio, tokio_needless) = recorded(program, tokio);
    let mut text = String::new();
    if raddle == tokio && !raddle.contains(PANICKED) {
        if raddle_needless <= tokio_needless {
            return None;
        }
        text = format!("needless wake-ups: {raddle_needless}, of Tokio {tokio_needless}\n");
    }
    let (mut ours, mut theirs) = (raddle.lines(), tokio.lines());
    loop {
        match (ours.next(), theirs.next()) {
            (Some(ours), Some(theirs)) if ours == theirs => text += &format!("        {ours}\n"),
            (ours, theirs) => {
                for (name, line) in [("raddle:", ours), ("tokio: ", theirs)] {
                    text += &line.map_or(String::new(), |line| format!("{name} {line}\n"));
                }
                return Some(text);
            }
        }
    }
}

const PANICKED: &str = "panicked:";

fn recorded(program: &[Step], run: Run) -> (String, usize) {
    record::begin();
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| run(program))) {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or(payload.downcast_ref::<&str>().copied());
        record::write(format_args!("{PANICKED} {}", text.unwrap_or("")));
    }
    record::take()
}
