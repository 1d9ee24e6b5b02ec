//! The crate builds on `core` alone, and with `alloc`: a path into `std` would be a compile error.

use std::path::Path;
use std::process::Command;

fn check(features: &[&str]) {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--lib", "--no-default-features"])
        .args(features)
        .arg("--manifest-path")
        .arg(manifest)
        // The flags of a sanitizer apply to the tests only.
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(!stderr.contains("warning"), "{stderr}");
}

#[test]
fn the_crate_builds_on_core_alone() {
    assert!(include_str!("../../src/lib.rs").starts_with("#![no_std]"));
    check(&[]);
    check(&["--features", "alloc"]);
}
