use super::*;

#[test]
fn an_unknown_file_at_the_top_level_is_reported() {
    let entries = ["README.md", ".ci", "crates", "notes.txt"].map(String::from);
    assert_eq!(
        top_level(&entries),
        ["notes.txt: does not belong at the top level"]
    );
}

#[test]
fn a_manifest_without_the_lints_of_the_workspace_is_reported() {
    let dir = Path::new("crates/planted");
    let with = "[lints]\nworkspace = true".parse().unwrap();
    let dotted = "lints.workspace = true".parse().unwrap();
    let without = "[package]\nname = \"planted\"".parse().unwrap();
    let off = "[lints]\nworkspace = false".parse().unwrap();
    assert!(lints(dir, &with).is_none());
    assert!(lints(dir, &dotted).is_none());
    assert!(lints(dir, &without).is_some());
    assert!(lints(dir, &off).is_some());
}

#[test]
fn a_crate_that_the_table_lacks_is_reported() {
    let readme = "See [queue](crates/queue/README.md).\n\n\
                  | [`crates/task`](crates/task/README.md) | `raddle-task` |\n";
    assert!(described(Path::new("crates/task"), readme).is_none());
    assert!(described(Path::new("crates/queue"), readme).is_some());
}

#[test]
fn the_toolchain_is_the_promised_version() {
    let xtask = "[package]\nrust-version = \"1.95\"".parse().unwrap();
    let channel = |channel: &str| {
        format!("[toolchain]\nchannel = \"{channel}\"")
            .parse::<Table>()
            .unwrap()
    };
    assert!(rust_version(&xtask, &channel("1.95.0")).is_none());
    assert!(rust_version(&xtask, &channel("1.96.0")).is_some());
    assert!(rust_version(&xtask, &channel("1.95.1")).is_some());
    assert!(rust_version(&xtask, &channel("stable")).is_some());
}

#[test]
fn a_workspace_is_read_from_its_directory() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("xtask/Cargo.toml", "[package]\nrust-version = \"1.95\"");
    write("rust-toolchain.toml", "[toolchain]\nchannel = \"1.95.0\"");
    write("README.md", "| [a](crates/a/README.md) |");
    write("crates/a/Cargo.toml", "[lints]\nworkspace = true");
    let packages = [Package {
        name: "a".to_owned(),
        dir: "crates/a".into(),
        dependencies: Vec::new(),
        spec: String::new(),
        features: Vec::new(),
    }];
    let findings = check(root.path(), &packages).unwrap();
    assert_eq!(findings, ["crates/a: has no README.md"]);
    write("crates/a/README.md", "");
    assert!(check(root.path(), &packages).unwrap().is_empty());
}
