use super::VARIANTS;
use super::fake_io::{Calls, Counts};

#[test]
fn every_variant_makes_the_calls_of_the_poll_loop() {
    for calls in [Calls::in_memory(), Calls::with_syscalls().unwrap()] {
        let calls: &'static Calls = Box::leak(Box::new(calls));
        for (name, time) in VARIANTS {
            time(calls, 32, 1);
            assert_eq!(calls.take(), Counts::of(32), "{name}");
        }
    }
}
