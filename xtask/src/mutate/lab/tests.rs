use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn git(root: &Path, args: &[&str]) {
    steps::output(Command::new("git").current_dir(root).args(args)).unwrap();
}

#[test]
fn the_copy_has_the_files_of_git_and_the_changes_and_no_others() {
    let (root, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    git(root.path(), &["init", "--quiet"]);
    for (name, text) in [
        ("known.rs", "known"),
        ("new.rs", "new"),
        ("ignored", "ignored"),
        (".gitignore", "ignored\n"),
    ] {
        fs::write(root.path().join(name), text).unwrap();
    }
    git(root.path(), &["add", "known.rs"]);
    fs::write(to.path().join("old.rs"), "old").unwrap();
    let changed = BTreeMap::from([("known.rs".into(), "mutated".to_owned())]);
    for (changed, expected) in [(changed, "mutated"), (BTreeMap::new(), "known")] {
        mirror(root.path(), to.path(), &changed).unwrap();
        let known = fs::read_to_string(to.path().join("known.rs")).unwrap();
        assert_eq!(known, expected);
    }
    let names = fs::read_dir(to.path()).unwrap();
    let names: BTreeSet<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(
        names,
        [".gitignore", "known.rs", "new.rs"].map(Into::into).into()
    );
}

/// A model whose process runs `script`.
fn model(dir: &Path, script: &str) -> Model {
    let program = dir.join("model");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    Model {
        package: "a".to_owned(),
        dir: dir.to_owned(),
        program,
        test: "b".to_owned(),
        usual: Duration::ZERO,
        reached: BTreeSet::new(),
    }
}

#[test]
fn a_model_that_fails_or_uses_its_processor_time_catches_a_mutant() {
    let dir = tempfile::tempdir().unwrap();
    for (script, expected) in [
        ("exit 0", None),
        ("test $RADDLE_MUTANT = 6", Some("caught")),
        ("kill -9 $$", Some("caught")),
        ("kill -24 $$", Some("timed out")),
    ] {
        let outcome = model(dir.path(), script).run(Bound::Preemptions(1), 7, None);
        assert_eq!(outcome.unwrap().failure, expected, "{script}");
    }
}

#[test]
fn a_model_without_a_mutant_shows_which_mutants_it_reaches() {
    let dir = tempfile::tempdir().unwrap();
    let map = dir.path().join("map");
    let mut model = model(
        dir.path(),
        r"printf '\000\001\000\001' >$RADDLE_MUTANTS_REACHED",
    );
    model.measure(Bound::Preemptions(1), &map).unwrap();
    assert_eq!(model.reached, BTreeSet::from([1, 3]));
}
