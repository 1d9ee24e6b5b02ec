use super::*;
use crate::mutate::mutants;
use crate::tidy::text::File;

#[test]
fn a_run_that_resumes_knows_the_last_verdict_of_each_mutant() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("verdicts");
    let text = "fn set() { word.store(1, Ordering::Release) }";
    let file = File::new("a", "crates/a/src/word.rs".into(), text).unwrap();
    let mutant = mutants::of(&file, text).remove(0);
    let mut book = Book::open(path.clone(), false);
    let caught = Verdict::new(Kind::Caught, "loom_word::a_word");
    let survived = Verdict::new(Kind::Survived, "0 1");
    book.note(&mutant, &survived).unwrap();
    book.note(&mutant, &caught).unwrap();
    let resumed = Book::open(path.clone(), true);
    assert_eq!(resumed.verdict(&mutant), Some(&caught));
    assert_eq!(Book::open(path, false).verdict(&mutant), None);
}
