use std::path::PathBuf;

use super::*;
use crate::mutate::logic;
use crate::tidy::text::File;

fn instrumented(text: &str, words: &str) -> (Instrumented, Vec<Mutant>) {
    let file = File::new("a", PathBuf::from("crates/a/src/word.rs"), text).unwrap();
    let mut mutants = logic::of(&file, text).unwrap();
    mutants.retain(|mutant| mutant.change.contains(words));
    let numbered: Vec<_> = (1..).zip(&mutants).collect();
    (Instrumented::new(text, "", &numbered), mutants)
}

fn with(words: &str, text: &str) -> String {
    let text = instrumented(text, words).0.text;
    text.replace("::mutant_switch::on", "on")
}

#[test]
fn each_mutant_stands_beside_the_original() {
    assert_eq!(
        with("replace <", "fn f() { a < b }"),
        "fn f() { (if on(1) { a == b } else { (if on(2) { a > b } else { \
         (if on(3) { a <= b } else { a < b }) }) }) }"
    );
    assert_eq!(
        with("dropped", "fn f() { a(); b(); }"),
        "fn f() { if !on(1) { a(); } if !on(2) { b(); } }"
    );
    assert_eq!(
        with("replace f", "fn f() -> bool { a }"),
        "fn f() -> bool { if on(1) { return true; }  if on(2) { return false; }  a }"
    );
    assert_eq!(
        with("delete match arm", "fn f() { match a { b => c, _ => d } }"),
        "fn f() { match a { b if !on(1)  => c, _ => d } }"
    );
}

#[test]
fn a_condition_with_a_pattern_stays_one() {
    assert_eq!(
        with("holds", "fn f() { if a { b } }"),
        "fn f() { if (!on(1) && ((on(2) || (a)))) { b } }"
    );
    assert_eq!(
        with("holds", "fn f() { if let a = b && c { d } }"),
        "fn f() { if !on(1) && let a = b && c { d } }"
    );
}

#[test]
fn the_innermost_stands_inside() {
    assert_eq!(
        with("", "fn f() { if a == 1 { return; } }"),
        "fn f() { if on(1) { return (); }  if (!on(2) && ((on(3) || (\
         (if on(4) { a != 1 } else { a == (if on(5) { 2 } else { 1 }) }))))) \
         { if !on(6) { return; } } }"
    );
}

#[test]
fn places_lead_back_to_the_original() {
    let text = "fn f() { a + b; c }";
    let (file, _) = instrumented(text, "replace + with -");
    let at = |words| file.text.find(words).unwrap();
    assert_eq!(file.mutant_at(at("a - b")), Some(1));
    assert_eq!(file.mutant_at(at("a + b")), None);
    assert_eq!(file.original(at("b })")), text.find("b;").unwrap());
    assert_eq!(file.original(at("c }")), text.find("c }").unwrap());
    assert_eq!(file.original(at("f()")), text.find("f()").unwrap());
}
