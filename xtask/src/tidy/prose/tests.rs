use super::*;

#[test]
fn a_wide_line_of_a_page_is_reported() {
    let wide = "word ".repeat(21);
    assert_eq!(too_wide(&format!("Short.\n{wide}\n"), true), [2]);
    assert!(too_wide(&"x".repeat(100), true).is_empty());
}

#[test]
fn a_wide_comment_is_reported_and_wide_code_is_not() {
    let wide = "word ".repeat(20);
    for comment in ["//", "///", "    //!"] {
        assert_eq!(too_wide(&format!("{comment} {wide}"), false), [1]);
    }
    assert!(too_wide(&format!("let a = \"{wide}\";"), false).is_empty());
}

#[test]
fn tables_code_and_what_cannot_be_broken_may_be_wide() {
    let wide = "word ".repeat(21);
    assert!(too_wide(&format!("| {wide} |"), true).is_empty());
    assert!(too_wide(&format!("```\n{wide}\n```"), true).is_empty());
    assert_eq!(too_wide(&format!("```\n```\n{wide}"), true), [3]);
    assert!(too_wide(&format!("/// ```\n/// {wide}\n/// ```"), false).is_empty());
    let target = "x".repeat(100);
    assert!(too_wide(&format!("[text]({target})"), true).is_empty());
    assert!(too_wide(&format!("- https://{target}"), true).is_empty());
    assert_eq!(too_wide(&format!("[text]({target}) after it"), true), [1]);
}

#[test]
fn an_unclosed_example_ends_with_its_comment() {
    let wide = "word ".repeat(20);
    assert_eq!(
        too_wide(&format!("/// ```\nfn f() {{}}\n// {wide}"), false),
        [3]
    );
}

#[test]
fn paths_are_spans_of_code_without_placeholders() {
    let page = "`crates/a/src/b.rs` `cargo test` `docs/` `benches/src/bin/<name>.rs`";
    let paths: Vec<_> = paths_in(page).collect();
    assert_eq!(paths, [Path::new("crates/a/src/b.rs"), Path::new("docs/")]);
}
