use super::*;

fn file(package: &str, path: &str, text: &str) -> File {
    File::new(package, path.into(), text).unwrap()
}

fn queue(text: &str) -> File {
    file("raddle-queue", "crates/queue/src/ring.rs", text)
}

#[test]
fn primitives_past_raddle_primitives_are_found() {
    for text in [
        "use std::sync::atomic::AtomicBool;",
        "use std::sync::{Arc, atomic::{AtomicBool, Ordering}};",
        "fn f() { core::sync::atomic::fence(order) }",
        "fn f() { std::thread::park(); }",
    ] {
        assert_eq!(primitives(&queue(text)).len(), 1, "{text}");
        assert!(
            primitives(&file(
                "raddle-primitives",
                "crates/primitives/src/std.rs",
                text
            ))
            .is_empty()
        );
        assert!(primitives(&file("raddle-queue", "crates/queue/tests/a.rs", text)).is_empty());
    }
    for text in [
        "use raddle_primitives::sync::atomic::AtomicBool;",
        "use raddle_primitives::thread::park;",
        "use std::sync::Arc; use std::thread::panicking;",
        "static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);",
    ] {
        assert!(primitives(&queue(text)).is_empty(), "{text}");
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
        assert_eq!(ordering(&queue(text)).len(), 1, "{text}");
        let explained = format!("// ORDERING: pairs with g.\n{text}");
        assert!(ordering(&queue(&explained)).is_empty(), "{text}");
        let far = format!("// ORDERING: pairs with g.\n{}{text}", "\n".repeat(9));
        assert_eq!(ordering(&queue(&far)).len(), 1, "{text}");
    }
}

#[test]
fn an_ordering_comment_is_needed_only_for_atomics_in_layers() {
    assert!(
        ordering(&queue(
            "fn f() { mem::swap(a, b); a.load(path); a.cmp(Less) }"
        ))
        .is_empty()
    );
    let text = "fn f() { a.load(Acquire); }";
    let tests = file("raddle-queue", "crates/queue/tests/ring.rs", text);
    assert!(ordering(&tests).is_empty());
    assert!(ordering(&file("xtask", "xtask/src/main.rs", text)).is_empty());
}

#[test]
fn an_async_function_without_a_cancel_safety_section_is_reported() {
    let silent = "/// Waits.\npub async fn f() {}";
    let documented =
        "/// Waits.\n///\n/// # Cancel safety\n///\n/// Safe.\n#[inline]\npub async fn f() {}";
    assert_eq!(cancel_safety(&queue(silent)).len(), 1);
    assert_eq!(
        cancel_safety(&queue(&format!("{documented}\n{silent}"))).len(),
        1
    );
    assert!(cancel_safety(&queue(documented)).is_empty());
    let future = documented.replace("pub async fn f()", "pub fn f() -> impl Future<Output = ()>");
    assert!(cancel_safety(&queue(&future)).is_empty());
    let silent_future = "/// Waits.\npub fn f(a: &u8) -> impl Future<Output = ()> {}";
    assert_eq!(cancel_safety(&queue(silent_future)).len(), 1);
    assert!(cancel_safety(&queue("pub fn f(a: impl Future) -> u8 {}")).is_empty());
    assert!(cancel_safety(&queue("pub(super) async fn f() {}\nasync fn g() {}")).is_empty());
    let tests = file("raddle-queue", "crates/queue/tests/a.rs", silent);
    assert!(cancel_safety(&tests).is_empty());
    assert!(cancel_safety(&file("xtask", "xtask/src/main.rs", silent)).is_empty());
}

#[test]
fn a_lock_without_a_rank_is_reported() {
    let text = "fn f() -> Lock {\n    Lock(Mutex::new(0))\n}";
    assert_eq!(
        rank(&queue(text)),
        ["crates/queue/src/ring.rs:2: give the lock a Rank, or say why it has none"]
    );
    let documented = "fn f() -> Lock {\n    // UNRANKED: for once.\n    Lock(Mutex::new(0))\n}";
    assert!(rank(&queue(documented)).is_empty());
    let ranked = "fn f() -> Lock { Lock(Mutex::ranked(Rank::leaf(\"a\"), 0)) }";
    assert!(rank(&queue(ranked)).is_empty());
    assert!(rank(&file("raddle-queue", "crates/queue/tests/a.rs", text)).is_empty());
}
