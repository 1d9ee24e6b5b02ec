//! The crate builds on core alone, and with alloc: a path of std's is an error
//! then, since std is not there.
#![cfg(all(not(raddle_loom), not(miri), unix))]

use std::path::Path;
use std::process::Command;

fn check(features: &[&str]) {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--lib", "--no-default-features"])
        .args(features)
        .arg("--manifest-path")
        .arg(manifest)
        // The flags of a sanitizer are for the tests.
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn the_crate_builds_on_core_alone() {
    assert!(include_str!("../src/lib.rs").starts_with("#![no_std]"));
    check(&[]);
    check(&["--features", "alloc"]);
}
