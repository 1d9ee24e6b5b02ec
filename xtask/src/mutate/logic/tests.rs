use super::*;

fn number_all(text: &str) -> Vec<String> {
    let file = File::new("a", "crates/a/src/word.rs".into(), text).unwrap();
    let mut changes = syntax::changes(text).unwrap();
    changes.sort_by_key(|change| change.range.start);
    number(&file, &mut changes);
    let words = changes.into_iter().map(|change| change.words);
    words.filter(|words| words.contains("dropped")).collect()
}

#[test]
fn like_changes_of_one_function_are_numbered() {
    let text = "fn f() {\n    g();\n    h();\n    g();\n}\nfn i() {\n    g();\n    h();\n}";
    assert_eq!(
        number_all(text),
        [
            "`g();` dropped",
            "`h();` dropped",
            "`g();` dropped (no. 2)",
            "`g();` dropped",
            "`h();` dropped"
        ]
    );
}

#[test]
fn a_long_source_is_cut() {
    assert_eq!(quoted("a\n    .b()"), "`a .b()`");
    let long = quoted(&"x".repeat(200));
    assert!(long.len() < 100 && long.ends_with("...`"));
}
