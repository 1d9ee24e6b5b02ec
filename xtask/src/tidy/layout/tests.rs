use super::*;

#[test]
fn each_violation_of_a_layout_rule_is_reported() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let package = Package {
        dir: "crates/a".into(),
        ..Package::default()
    };
    let findings = || {
        let mut findings = check(root.path(), std::slice::from_ref(&package)).unwrap();
        findings.sort();
        findings
    };
    write(".hidden", "");
    write("README.md", "| [a](crates/a/README.md) |");
    write("crates/a/README.md", "");
    write("crates/a/Cargo.toml", "[lints]\nworkspace = true\n");
    assert!(findings().is_empty());

    write("notes.txt", "");
    write("README.md", "See [a](crates/a/README.md).");
    fs::remove_file(root.path().join("crates/a/README.md")).unwrap();
    write("crates/a/Cargo.toml", "[lints]\nworkspace = false\n");
    assert_eq!(
        findings(),
        [
            "README.md: no row of a table links crates/a/README.md",
            "crates/a/Cargo.toml: add lints.workspace = true",
            "crates/a: has no README.md",
            "notes.txt: does not belong at the top level",
        ]
    );
}
