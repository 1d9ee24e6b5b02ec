use super::*;

#[test]
fn comments_give_no_tokens_and_a_string_gives_one() {
    let text = "// a b\nfn f() { \"a b\"; a b }\n/// a b\nfn g() {}";
    let file = File::new("planted", "crates/a/src/lib.rs".into(), text).unwrap();
    let lines: Vec<_> = file
        .find(&["a", "b"])
        .map(|at| file.tokens[at].line)
        .collect();
    assert_eq!(lines, [1]);
}

#[test]
fn files_of_tests_and_benchmarks_are_apart_from_the_library() {
    for (path, expected) in [
        ("crates/a/src/ring/tests.rs", true),
        ("crates/a/tests/b.rs", true),
        ("benches/benches/b.rs", true),
        ("crates/a/src/ring.rs", false),
        ("benches/src/lib.rs", false),
        ("xtask/src/test.rs", false),
    ] {
        let file = File::new("planted", path.into(), "").unwrap();
        assert_eq!(file.is_apart(), expected, "{path}");
    }
}

#[test]
fn files_are_found_in_every_directory_but_target_and_other_packages() {
    let root = tempfile::tempdir().unwrap();
    let found = ["a/src/b/c.rs", "a/src/lib.rs", "a/tests/t.rs"];
    let others = [
        "a/target/x.rs",
        "a/README.md",
        "a/b/Cargo.toml",
        "a/b/lib.rs",
    ];
    for path in found.iter().chain(&others) {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    let package = Package {
        dir: "a".into(),
        ..Package::default()
    };
    let files = files(root.path(), &package).unwrap();
    let paths: Vec<_> = files
        .iter()
        .map(|file| file.path.to_str().unwrap())
        .collect();
    assert_eq!(paths, found);
}
