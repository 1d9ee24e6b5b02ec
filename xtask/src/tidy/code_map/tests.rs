use super::*;

#[test]
fn a_file_that_its_section_does_not_name_is_reported() {
    let page = "\n### `crates/a`\n`b.rs`, `c/`, `d/e.rs`\n\n### `crates/f`\n`g.rs`\n";
    let findings = |path: &str| check(page, &[File::new("a", path.into(), "").unwrap()]).len();
    let mapped = ["lib.rs", "b.rs", "b/h.rs", "c.rs", "c/h/i.rs", "d/e.rs"];
    assert!(mapped.map(|file| findings(&format!("crates/a/src/{file}"))) == [0; 6]);
    assert_eq!(findings("crates/a/src/g/tests.rs"), 0);
    assert_eq!(findings("crates/a/tests/g.rs"), 0);
    assert_eq!(findings("xtask/src/g.rs"), 0);

    let missing = ["g.rs", "d.rs", "d/g.rs"];
    assert_eq!(
        missing.map(|file| findings(&format!("crates/a/src/{file}"))),
        [1; 3]
    );
    assert_eq!(findings("crates/j/src/b.rs"), 1);
}
