use serde_json::json;

use super::*;

const TEXT: &str = "// ä\nfn f() -> bool {\n    a < b\n}\n";

fn listing() -> Value {
    json!([
        {
            "file": "crates/a/src/word.rs",
            "function": { "function_name": "f" },
            "genre": "FnValue",
            "name": "crates/a/src/word.rs:3:5: replace f -> bool with true",
            "replacement": "true",
            "span": { "start": { "line": 3, "column": 5 }, "end": { "line": 3, "column": 10 } },
        },
        {
            "file": "crates/a/src/word.rs",
            "function": { "function_name": "f" },
            "genre": "BinaryOperator",
            "name": "crates/a/src/word.rs:3:7: replace < with <= in f",
            "replacement": "<=",
            "span": { "start": { "line": 3, "column": 7 }, "end": { "line": 3, "column": 8 } },
        },
    ])
}

#[test]
fn a_listed_mutant_becomes_a_change_of_the_text() {
    let mut files = parse(&listing()).unwrap();
    let entries = files.remove(Path::new("crates/a/src/word.rs")).unwrap();
    let changes: Vec<_> = entries
        .into_iter()
        .map(|entry| entry.change(TEXT).unwrap())
        .collect();
    assert_eq!(changes[0].words, "`replace f -> bool with true`");
    assert_eq!(&TEXT[changes[0].range.clone()], "a < b");
    assert_eq!(changes[1].words, "`replace < with <=` in `a < b`");
    assert_eq!(&TEXT[changes[1].range.clone()], "<");
    assert_eq!(
        (changes[1].line, changes[1].replacement.as_str()),
        (2, "<=")
    );
}

#[test]
fn a_listing_of_another_shape_is_refused() {
    assert!(parse(&json!({})).is_none());
    assert!(parse(&json!([{ "file": "a" }])).is_none());
}
