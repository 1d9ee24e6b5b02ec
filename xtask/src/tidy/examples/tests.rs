use std::path::PathBuf;

use super::lacking;
use crate::tidy::text::File;

fn found(package: &str, path: &str, text: &str) -> Vec<String> {
    lacking(&File::new(package, PathBuf::from(path), text).unwrap())
}

fn in_net(text: &str) -> Vec<String> {
    found("raddle-net", "crates/net/src/tcp.rs", text)
}

#[test]
fn each_public_item_without_an_example_is_found() {
    let text = "/// A type.\npub struct A;\n\nimpl<T: Into<u8>> A {\n    /// Waits.\n    pub async fn \
                wait(&self) {}\n\n    fn private() {}\n}\n\npub(crate) fn internal() {}\n";
    let path = "crates/net/src/tcp.rs";
    let expected = [
        format!("{path}:2: `A` lacks an example"),
        format!("{path}:6: `wait` lacks an example"),
    ];
    assert_eq!(in_net(text), expected);
}

#[test]
fn an_example_above_the_attributes_counts() {
    let text = "/// A type.\n///\n/// ```\n/// let a = A;\n/// ```\n#[derive(\n    Debug,\n)]\npub struct A;\n";
    assert!(in_net(text).is_empty());
}

#[test]
fn methods_of_traits_are_counted_and_those_of_implementations_are_not() {
    let text = "impl Other for A {\n    fn there() {}\n}\n\n/// ```\n/// ```\npub trait T {\n    fn here();\n}\n";
    assert_eq!(
        in_net(text),
        ["crates/net/src/tcp.rs:8: `here` lacks an example"]
    );
}

#[test]
fn hidden_and_deprecated_items_are_not_counted() {
    assert!(
        in_net("#[doc(hidden)]\npub fn a() {}\n\n#[deprecated(note = \"b\")]\npub fn c() {}\n")
            .is_empty()
    );
}

#[test]
fn only_what_the_facade_re_exports_is_counted() {
    let text = "pub fn sleep() {}\n\nimpl Timers {\n    pub fn new() {}\n}\n\nimpl Sleep {\n    pub fn reset() {}\n}\n";
    let path = "crates/timer/src/x.rs";
    let expected = [
        format!("{path}:1: `sleep` lacks an example"),
        format!("{path}:8: `reset` lacks an example"),
    ];
    assert_eq!(found("raddle-timer", path, text), expected);
    assert!(found("raddle-queue", "crates/queue/src/lib.rs", text).is_empty());
    assert!(found("raddle-net", "crates/net/tests/x.rs", text).is_empty());
}
