use super::*;

fn findings(package: &str, path: &str, text: &str) -> usize {
    let file = File {
        package: package.to_owned(),
        path: path.into(),
        text: text.to_owned(),
    };
    check(&file).len()
}

fn queue(text: &str) -> usize {
    findings("raddle-queue", "crates/queue/src/ring.rs", text)
}

/// The rules apply only to the code of the crates.
fn is_found_in_crates_only(text: &str) {
    assert_eq!(queue(text), 1, "{text}");
    assert_eq!(findings("raddle-queue", "crates/queue/tests/a.rs", text), 0);
    assert_eq!(findings("xtask", "xtask/src/main.rs", text), 0);
}

#[test]
fn primitives_past_raddle_primitives_are_found() {
    for text in [
        "use std::sync::atomic::AtomicBool;",
        "use std::sync::{Arc, atomic::{AtomicBool, Ordering}};",
        "fn f() { core::sync::atomic::fence(order) }",
        "fn f() { std::thread::park(); }",
    ] {
        is_found_in_crates_only(text);
        let path = "crates/primitives/src/std.rs";
        assert_eq!(findings("raddle-primitives", path, text), 0);
    }
    for text in [
        "use raddle_primitives::sync::atomic::AtomicBool;",
        "use raddle_primitives::thread::park;",
        "use std::sync::Arc; use std::thread::panicking;",
        "static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);",
    ] {
        assert_eq!(queue(text), 0, "{text}");
    }
}

#[test]
fn an_operation_without_its_partner_is_reported() {
    for text in [
        "fn f() { a.load(Acquire); }",
        "fn f() { a.b.store(g(1), Ordering::Release); }",
        "fn f() {\n    a\n        .compare_exchange_weak(\n            0, 1, AcqRel, Relaxed)\n}",
        "fn f() { a.fetch_or(1, Ordering::AcqRel); }",
        "fn f() { fence(SeqCst); }",
    ] {
        is_found_in_crates_only(text);
        let comment = "// ORDERING: pairs with g.\n";
        assert_eq!(queue(&format!("{comment}{text}")), 0, "{text}");
        let far = format!("{comment}{}{text}", "\n".repeat(9));
        assert_eq!(queue(&far), 1, "{text}");
    }
    let others = "fn f() { mem::swap(a, b); a.load(path); a.cmp(Less) }";
    assert_eq!(queue(others), 0);
}

#[test]
fn an_async_function_without_a_cancel_safety_section_is_reported() {
    let silent = "/// Waits.\npub async fn f() {}";
    let documented =
        "/// Waits.\n///\n/// # Cancel safety\n///\n/// Safe.\n#[inline]\npub async fn f() {}";
    is_found_in_crates_only(silent);
    assert_eq!(queue(documented), 0);
    assert_eq!(queue(&documented.replace("#[inline]", "$(#[$doc])*")), 0);
    assert_eq!(queue(&format!("{documented}\n{silent}")), 1);
    let with_docs_of_caller = documented.replace("#[inline]", "$(#[$docs])*\n#[inline]");
    assert_eq!(queue(&with_docs_of_caller), 0);
    let future = "pub fn f(\n    a: &u8,\n) -> impl Future<Output = ()>";
    assert_eq!(queue(&documented.replace("pub async fn f()", future)), 0);
    is_found_in_crates_only(&format!("/// Waits.\n{future} {{}}"));
    assert_eq!(queue("pub fn f(a: impl Future) -> u8 {}"), 0);
    assert_eq!(queue("pub(super) async fn f() {}\nasync fn g() {}"), 0);
}

#[test]
fn a_lock_without_a_rank_is_reported() {
    is_found_in_crates_only("fn f() -> Lock {\n    Lock(Mutex::new(0))\n}");
    let explained = "fn f() -> Lock {\n    // UNRANKED: for once.\n    Lock(Mutex::new(0))\n}";
    assert_eq!(queue(explained), 0);
    let ranked = "fn f() -> Lock { Lock(Mutex::ranked(Rank::leaf(\"a\"), 0)) }";
    assert_eq!(queue(ranked), 0);
}
