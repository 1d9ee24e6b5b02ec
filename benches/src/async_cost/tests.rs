use super::fake_io::{Calls, Counts};
use super::{VARIANTS, Variant};

fn counts(variant: &Variant, calls: &'static Calls, requests: usize) -> Counts {
    variant.time(calls, requests, 1);
    calls.take()
}

#[test]
fn every_variant_makes_the_calls_of_the_poll_loop() {
    let calls = Box::leak(Box::new(Calls::in_memory()));
    for variant in &VARIANTS {
        let expected = Counts {
            register: 33,
            unregister: 33,
            poll: 34,
            accept: 64,
            read: 64,
            write: 64,
        };
        assert_eq!(counts(variant, calls, 32), expected, "{}", variant.name);
        let expected = Counts {
            register: 257,
            unregister: 257,
            poll: 258,
            accept: 512,
            read: 512,
            write: 512,
        };
        assert_eq!(counts(variant, calls, 256), expected, "{}", variant.name);
    }
}

#[test]
fn every_variant_makes_the_calls_of_the_poll_loop_with_system_calls() {
    let calls = Box::leak(Box::new(Calls::with_syscalls().unwrap()));
    for variant in &VARIANTS {
        assert_eq!(
            counts(variant, calls, 32),
            Counts::of(32),
            "{}",
            variant.name
        );
    }
}
