#![no_main]

use raddle_proof::Choices;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| raddle_proof::timer::run(&mut Choices::new(bytes)));
