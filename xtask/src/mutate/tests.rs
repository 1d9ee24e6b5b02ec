use super::*;

fn args(line: &str) -> Args {
    use clap::Parser as _;
    let line = format!("cargo xtask mutate {line}");
    match crate::Cli::parse_from(line.split_whitespace().skip(1)).command {
        crate::Command::Mutate(args) => args,
        _ => unreachable!("another command"),
    }
}

fn mutant() -> Mutant {
    let text = "fn set() { word.store(1, Ordering::Release) }";
    let file = File::new("a", "crates/a/src/word.rs".into(), text).unwrap();
    mutants::of(&file, text).remove(0)
}

#[test]
fn the_files_of_this_workspace_have_mutants() {
    let packages = workspace::packages().unwrap();
    let (files, mutants) = find(&packages, &args("crates/idle/src/idle.rs")).unwrap();
    assert_eq!(files.len(), 1);
    let removed = |mutant: &Mutant| mutant.change == "fence removed";
    assert!(mutants.iter().any(removed));
    assert!(find(&packages, &args("no-such-crate")).is_err());
}

#[test]
fn a_named_line_selects_its_mutants() {
    let packages = workspace::packages().unwrap();
    let found = |only: &str| find(&packages, &args(only));
    let (_, all) = found("crates/idle/src/idle.rs").unwrap();
    let line = all[0].line;
    let (whole, mutants) = found(&format!("crates/idle/src/idle.rs:{line}")).unwrap();
    assert!(whole.is_empty());
    assert!(mutants.len() < all.len() && mutants.iter().all(|mutant| mutant.line == line));
    assert!(found("crates/idle/src/idle.rs:1").is_err());
}

#[test]
fn logic_passes_crates_and_files_to_cargo_mutants() {
    let packages = workspace::packages().unwrap();
    let line = |of: &str| {
        let command = logic_command(&packages, &args(of));
        let line = steps::line_of(&command);
        line.split_once("target ").unwrap().1.to_owned()
    };
    assert_eq!(
        line("--logic queue src/slot.rs -- --timeout 5"),
        "--package raddle-queue --file src/slot.rs --timeout 5 --all-features -- --lib --tests"
    );
    assert_eq!(
        line("--logic --models --resume queue"),
        "--iterate --package raddle-queue --profile release -- --test 'loom_*'"
    );
    assert!(line("--logic --list").contains("--package raddle-sched"));
}

#[test]
fn only_the_first_part_of_the_page_argues_orderings() {
    let row = "| `crates/a/src/word.rs` | `set` | Release to Relaxed | one thread |";
    let page = format!("## Orderings\n\n{row}\n{LOGIC}\n| `crates/a/src/b.rs` | `b` |\n");
    assert_eq!(rows(&page), [row]);
    assert!(row.starts_with(&mutant().row()));
    assert!(!row.replace("`set`", "`get`").starts_with(&mutant().row()));
}

#[test]
fn a_row_without_a_mutant_is_stale() {
    let rows = ["| `crates/a/src/word.rs` | `set` | Release to Relaxed | one thread |"];
    let files = BTreeSet::from([mutant().path]);
    assert!(stale(&rows, &files, &[mutant()]).is_empty());
    assert_eq!(stale(&rows, &files, &[]), rows);
    assert!(stale(&rows, &BTreeSet::new(), &[]).is_empty());
}
