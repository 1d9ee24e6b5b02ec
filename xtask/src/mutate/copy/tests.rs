use super::*;

fn git(root: &Path, args: &[&str]) {
    let status = Command::new("git")
        .current_dir(root)
        .args(args)
        .status()
        .unwrap();
    assert!(status.success());
}

/// A tree with a file that git knows, one that it does not, and one that it
/// ignores.
fn tree() -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    git(tree.path(), &["init", "--quiet"]);
    for (name, text) in [
        ("known.rs", "known"),
        ("new.rs", "new"),
        ("junk", "junk"),
        (".gitignore", "junk\n"),
    ] {
        fs::write(tree.path().join(name), text).unwrap();
    }
    git(tree.path(), &["add", "known.rs"]);
    tree
}

#[test]
fn the_copy_has_what_belongs_to_the_tree() {
    let (tree, to) = (tree(), tempfile::tempdir().unwrap());
    let copy = Copy::new(tree.path(), to.path().join("copy")).unwrap();
    let mut names: Vec<_> = fs::read_dir(&copy.root)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, [".gitignore", "known.rs", "new.rs"]);
}

#[test]
fn a_new_copy_undoes_changes_which_never_touch_the_tree() {
    let (tree, to) = (tree(), tempfile::tempdir().unwrap());
    let copy = Copy::new(tree.path(), to.path().join("copy")).unwrap();
    copy.write(Path::new("known.rs"), "mutated").unwrap();
    copy.write(Path::new("gone/old.rs"), "old").unwrap();
    let original = fs::read_to_string(tree.path().join("known.rs")).unwrap();
    assert_eq!(original, "known");
    let copy = Copy::new(tree.path(), to.path().join("copy")).unwrap();
    let text = fs::read_to_string(copy.root.join("known.rs")).unwrap();
    assert_eq!(text, "known");
    assert!(!copy.root.join("gone/old.rs").exists());
}
