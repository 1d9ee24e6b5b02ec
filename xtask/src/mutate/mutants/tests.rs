use super::*;

fn file(text: &str) -> File {
    File::new("raddle-a", "crates/a/src/word.rs".into(), text).unwrap()
}

/// What becomes of each mutant's line, with its words.
fn lines(text: &str) -> Vec<(String, String)> {
    of(&file(text), text)
        .into_iter()
        .map(|mutant| {
            let mutated = mutant.apply(text);
            let line = mutated.lines().nth(mutant.line - 1).unwrap();
            (mutant.change, line.trim().to_owned())
        })
        .collect()
}

fn changed(text: &str) -> Vec<String> {
    lines(text).into_iter().map(|(_, line)| line).collect()
}

#[test]
fn both_halves_of_an_ordering_are_taken_away() {
    assert_eq!(
        changed("fn f() { w.swap(1, Ordering::AcqRel); }"),
        [
            "fn f() { w.swap(1, Ordering::Acquire); }",
            "fn f() { w.swap(1, Ordering::Release); }"
        ]
    );
}

#[test]
fn each_ordering_of_an_exchange_is_weakened_by_itself() {
    let text = "fn f() { w.compare_exchange(0, 1, Ordering::Release, Ordering::Acquire); }";
    assert_eq!(
        changed(text),
        [
            text.replace("Release", "Relaxed"),
            text.replace("Acquire", "Relaxed")
        ]
    );
}

#[test]
fn a_relaxed_ordering_has_no_mutant() {
    let text = "use std::sync::atomic::Ordering;\nfn f() { w.load(Ordering::Relaxed); }";
    assert!(lines(text).is_empty());
}

#[test]
fn a_consistent_access_keeps_the_half_that_it_can_have() {
    assert_eq!(
        changed("fn f() { w.load(Ordering::SeqCst); }"),
        ["fn f() { w.load(Ordering::Acquire); }"]
    );
    assert_eq!(
        changed("fn f() { w.store(g(1), Ordering::SeqCst); }"),
        ["fn f() { w.store(g(1), Ordering::Release); }"]
    );
}

#[test]
fn a_fence_is_removed_and_weakened_but_never_relaxed() {
    assert_eq!(
        changed("fn f() { fence(Ordering::SeqCst); }"),
        ["fn f() { (); }", "fn f() { fence(Ordering::AcqRel); }"]
    );
    assert_eq!(
        changed("fn f() { fence(Ordering::Acquire); }"),
        ["fn f() { (); }"]
    );
}

#[test]
fn a_marked_check_finds_nothing() {
    let text =
        "fn f() {\n    // CHECK: a push that\n    // came before.\n    if !queue.is_empty(0) {\n}}";
    assert_eq!(
        lines(text),
        [(
            "`!queue.is_empty(0)` never holds".to_owned(),
            "if false {".to_owned()
        )]
    );
}

#[test]
fn one_operand_of_a_condition_is_a_check() {
    let text = "fn f() {\n    if a()\n        // CHECK: the end.\n        || b.c(|x| x || y)\n        || d\n    {}\n}";
    assert_eq!(changed(text), ["|| false"]);
    let text =
        "fn f() -> bool {\n    // CHECK: one.\n    a\n        // CHECK: two.\n        || b\n}";
    assert_eq!(changed(text), ["false", "|| false"]);
}

#[test]
fn the_names_of_a_pattern_are_kept() {
    let text = "fn f() {\n    // CHECK: again.\n    if let Some(x) = look(a, b) && x > 1 {}\n}";
    assert_eq!(
        changed(text),
        ["if false && let Some(x) = look(a, b) && x > 1 {}"]
    );
}

#[test]
fn a_mutant_knows_its_function_and_its_like() {
    let text = "fn f() {}\nfn g() { a.load(Ordering::Acquire);\na.load(Ordering::Acquire);\na.load(Ordering::Acquire); }";
    let mutants = of(&file(text), text);
    assert!(mutants.iter().all(|mutant| mutant.function == "g"));
    assert_eq!(
        mutants[1].to_string(),
        "crates/a/src/word.rs:3 g: Acquire to Relaxed"
    );
    assert_ne!(mutants[1].key(), mutants[2].key());
}

#[test]
fn a_key_outlives_a_line_that_is_put_above() {
    let text = "fn g() {\n    a.load(Ordering::Acquire);\n}";
    let longer = format!("// Words.\n{text}");
    let (before, after) = (of(&file(text), text), of(&file(&longer), &longer));
    assert_eq!(before[0].key(), after[0].key());
    assert_ne!(before[0].line, after[0].line);
}

#[test]
fn files_that_argue_an_ordering_or_check_before_sleep_are_mutable() {
    assert!(is_mutable("fn f() {\n    // ORDERING: alone.\n}"));
    assert!(is_mutable("// CHECK: alone.\nfn f() {}"));
    assert!(!is_mutable("fn f() {} // the ORDERING: of words"));
}
