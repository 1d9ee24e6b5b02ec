use super::*;
use crate::workspace::Dependency;

fn package(name: &str, uses: &[(&str, bool)]) -> Package {
    Package {
        name: name.to_owned(),
        dir: PathBuf::from("crates").join(name),
        dependencies: uses
            .iter()
            .map(|&(name, dev)| Dependency {
                name: name.to_owned(),
                dev,
                local: false,
            })
            .collect(),
        spec: String::new(),
        features: Vec::new(),
    }
}

fn planted(text: &str) -> Mutant {
    let file = text::File::new("a", "crates/a/src/word.rs".into(), text).unwrap();
    mutants::of(&file, text).remove(0)
}

#[test]
fn a_mutant_is_shown_to_its_crate_first_and_then_to_those_above() {
    let packages = [
        package("above", &[("queue", false)]),
        package("beside", &[("queue", true), ("task", false)]),
        package("queue", &[]),
    ];
    assert_eq!(judges(&packages, "queue"), ["queue", "above"]);
}

#[test]
fn a_survivor_is_argued_by_a_row_that_names_it() {
    let mutant = planted("fn set() { word.store(1, Ordering::Release) }");
    let page = "| `crates/a/src/word.rs` | `set` | Release to Relaxed | nobody looks |";
    assert!(is_argued(page, &mutant));
    assert!(!is_argued("set: Release to Relaxed", &mutant));
    assert!(!is_argued(&page.replace("`set`", "`get`"), &mutant));
}

#[test]
fn what_was_caught_is_known_to_a_run_that_resumes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("caught");
    let mutant = planted("fn set() { word.store(1, Ordering::Release) }");
    let mut book = Book::open(path.clone(), false).unwrap();
    book.note(&mutant, "loom_word::a_word").unwrap();
    let resumed = Book::open(path.clone(), true).unwrap();
    assert_eq!(resumed.caught[&mutant.key()], "loom_word::a_word");
    assert!(Book::open(path, false).unwrap().caught.is_empty());
}

#[test]
fn the_files_of_this_workspace_have_mutants() {
    let root = workspace::root();
    let packages = workspace::packages(&root).unwrap();
    let mutants = find(&root, &packages, &["crates/sched/src/idle.rs".to_owned()]).unwrap();
    let removed = |mutant: &&Mutant| mutant.change == "fence removed";
    assert_eq!(mutants.iter().filter(removed).count(), 3);
    assert!(find(&root, &packages, &["no-such-crate".to_owned()]).is_err());
}
