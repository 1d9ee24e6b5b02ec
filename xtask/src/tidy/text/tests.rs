use super::*;

fn file(path: &str, text: &str) -> File {
    File::new("planted", path.into(), text).unwrap()
}

#[test]
fn comments_give_no_tokens_and_a_string_gives_one() {
    let file = file(
        "crates/a/src/lib.rs",
        "// a b\nfn f() { \"a b\"; a b }\n/// a b\nfn g() {}",
    );
    let found: Vec<_> = file.find(&["a", "b"]).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(file.tokens[found[0]].line, 1);
}

#[test]
fn files_of_tests_benchmarks_and_examples_are_apart() {
    for path in [
        "crates/a/src/ring/tests.rs",
        "crates/a/tests/b.rs",
        "benches/benches/b.rs",
    ] {
        assert!(file(path, "").is_apart(), "{path}");
    }
    for path in [
        "crates/a/src/ring.rs",
        "benches/src/lib.rs",
        "xtask/src/test.rs",
    ] {
        assert!(!file(path, "").is_apart(), "{path}");
    }
}

#[test]
fn files_are_found_in_every_directory_but_target() {
    let root = tempfile::tempdir().unwrap();
    for path in [
        "a/src/lib.rs",
        "a/src/b/c.rs",
        "a/tests/t.rs",
        "a/target/x.rs",
        "a/README.md",
    ] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let package = Package {
        name: "a".to_owned(),
        dir: "a".into(),
        dependencies: Vec::new(),
        spec: String::new(),
        features: Vec::new(),
    };
    let found: Vec<_> = files(root.path(), &package)
        .unwrap()
        .into_iter()
        .map(|file| file.path.display().to_string())
        .collect();
    assert_eq!(found, ["a/src/b/c.rs", "a/src/lib.rs", "a/tests/t.rs"]);
}
