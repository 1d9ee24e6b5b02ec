use super::*;

fn findings(package: &str, path: &str, text: &str) -> usize {
    check(&File {
        package: package.to_owned(),
        path: path.into(),
        text: text.to_owned(),
    })
    .len()
}

/// Code that breaks one rule each.
const BAD: &[&str] = &[
    "use std::sync::atomic::AtomicBool;",
    "use std::sync::{Arc, atomic::{AtomicBool, Ordering}};",
    "fn f() { core::sync::atomic::fence(order) }",
    "fn f() { std::thread::park(); }",
    "fn f() { a.load(Acquire); }",
    "fn f() { a.b.store(g(1), Ordering::Release); }",
    "fn f() {\n    a\n        .compare_exchange_weak(\n            0, 1, AcqRel, Relaxed)\n}",
    "fn f() { fence(SeqCst); }",
    "// ORDERING: too far away.\n\n\n\n\n\n\n\n\n\nfn f() { fence(SeqCst); }",
    "/// Waits.\npub async fn f() {}",
    "/// Waits.\npub fn f(\n    a: &u8,\n) -> impl Future<Output = ()> {}",
    "/// # Cancel safety\npub async fn f() {}\n/// Waits.\npub async fn g() {}",
    "fn f() -> Lock {\n    Lock(Mutex::new(0))\n}",
];

const GOOD: &[&str] = &[
    "use raddle_primitives::{sync::atomic::AtomicBool, thread::park};",
    "use std::sync::Arc; use std::thread::panicking;",
    "static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);",
    "// ORDERING: pairs with g.\nfn f() {\n    a\n        .load(\n            Acquire)\n}",
    "fn f() { mem::swap(a, b); a.load(path); a.cmp(Less) }",
    "/// Waits.\n///\n/// # Cancel safety\n///\n/// Safe.\n#[inline]\npub async fn f() {}",
    "/// # Cancel safety\n///\n/// Safe.\n$(#[$docs])*\n#[inline]\npub async fn f() {}",
    "pub fn f(a: impl Future) -> u8 {}\npub(super) async fn f() {}\nasync fn g() {}",
    "fn f() -> Lock {\n    // UNRANKED: for once.\n    Lock(Mutex::new(0))\n}",
    "fn f() -> Lock { Lock(Mutex::ranked(Rank::leaf(\"a\"), 0)) }",
];

#[test]
fn each_rule_is_applied_to_the_libraries_only() {
    for text in BAD {
        let path = "crates/queue/src/ring.rs";
        assert_eq!(findings("raddle-queue", path, text), 1, "{text}");
        assert_eq!(findings("raddle-queue", "crates/queue/tests/a.rs", text), 0);
        assert_eq!(findings("xtask", "xtask/src/main.rs", text), 0);
    }
    let path = "crates/primitives/src/std.rs";
    assert_eq!(findings("raddle-primitives", path, BAD[0]), 0);
}

#[test]
fn code_that_keeps_the_rules_is_accepted() {
    for text in GOOD {
        let path = "crates/queue/src/ring.rs";
        assert_eq!(findings("raddle-queue", path, text), 0, "{text}");
    }
}
