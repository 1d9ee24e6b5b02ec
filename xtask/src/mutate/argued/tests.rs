use super::*;
use crate::mutate::mutants;
use crate::tidy::text::File;

const PAGE_OF_BOTH: &str = "\
## Orderings

| `crates/a/src/word.rs` | `set` | Release to Relaxed | one thread |

## Logic

| `crates/a/src/word.rs` | `set` | `a \\|\\| b` never holds | equal |
";

fn mutant() -> Mutant {
    let text = "fn set() { word.store(1, Ordering::Release) }";
    let file = File::new("a", "crates/a/src/word.rs".into(), text).unwrap();
    mutants::of(&file, text).remove(0)
}

#[test]
fn a_row_that_names_file_function_and_change_argues_a_mutant() {
    let argued = |page| Argued::parse(page, false);
    assert!(argued(PAGE_OF_BOTH).contains(&mutant()));
    assert!(!argued("set: Release to Relaxed").contains(&mutant()));
    let other = PAGE_OF_BOTH.replace("`set`", "`get`");
    assert!(!argued(&other).contains(&mutant()));
}

#[test]
fn each_part_of_the_list_is_about_its_own_mutants() {
    let of_logic = Argued::parse(PAGE_OF_BOTH, true);
    assert!(!of_logic.contains(&mutant()));
    let mut either = mutant();
    either.change = "`a || b` never holds".to_owned();
    assert!(of_logic.contains(&either));
}

#[test]
fn a_row_without_a_mutant_is_stale() {
    let argued = Argued::parse(PAGE_OF_BOTH, false);
    let files = BTreeSet::from([mutant().path]);
    assert!(argued.stale(&files, &[mutant()]).is_empty());
    assert_eq!(argued.stale(&files, &[]).len(), 1);
    assert!(argued.stale(&BTreeSet::new(), &[]).is_empty());
}
