use super::*;

fn file(text: &str) -> File {
    File::new("raddle-a", "crates/a/src/word.rs".into(), text).unwrap()
}

/// The text with the switch of each mutant in it.
fn instrumented(text: &str) -> String {
    let mutants = of(&file(text), text);
    let numbered: Vec<_> = (1..).zip(&mutants).collect();
    instrument(text, &numbered).replace("::mutant_switch::on", "on")
}

#[test]
fn each_ordering_becomes_the_next_weaker_that_its_operation_can_have() {
    for (body, expected) in [
        (
            "w.swap(1, Ordering::AcqRel)",
            "w.swap(1, (if on(1) { Ordering::Acquire } else { \
             (if on(2) { Ordering::Release } else { Ordering::AcqRel }) }))",
        ),
        (
            "w.compare_exchange(0, 1, Ordering::Release, Ordering::Acquire)",
            "w.compare_exchange(0, 1, (if on(1) { Ordering::Relaxed } else { Ordering::Release }), \
             (if on(2) { Ordering::Relaxed } else { Ordering::Acquire }))",
        ),
        ("w.load(Ordering::Relaxed)", "w.load(Ordering::Relaxed)"),
        (
            "w.load(Ordering::SeqCst)",
            "w.load((if on(1) { Ordering::Acquire } else { Ordering::SeqCst }))",
        ),
        (
            "w.store(g(1), Ordering::SeqCst)",
            "w.store(g(1), (if on(1) { Ordering::Release } else { Ordering::SeqCst }))",
        ),
        // A fence must not be relaxed.
        (
            "fence(Ordering::SeqCst)",
            "(if on(1) { () } else { \
             fence((if on(2) { Ordering::AcqRel } else { Ordering::SeqCst })) })",
        ),
        (
            "fence(Ordering::Acquire)",
            "(if on(1) { () } else { fence(Ordering::Acquire) })",
        ),
    ] {
        let function = |body: &str| format!("fn f() {{ {body}; }}");
        assert_eq!(instrumented(&function(body)), function(expected));
    }
}

#[test]
fn a_marked_check_never_holds() {
    for (text, expected) in [
        (
            "// CHECK: a push that\n// came before.\nif !queue.is_empty(0) {\n}",
            "if (!on(1) && (!queue.is_empty(0))) {",
        ),
        // One operand of a condition.
        (
            "if a()\n// CHECK: the end.\n|| b.c(|x| x || y)\n|| d\n{}",
            "|| (!on(1) && (b.c(|x| x || y)))",
        ),
        (
            "// CHECK: one.\na\n// CHECK: two.\n|| b\n",
            "|| (!on(2) && (b))",
        ),
        // The names of a pattern are used.
        (
            "// CHECK: again.\nif let Some(x) = look(a, b) && x > 1 {\n}",
            "if !on(1) && let Some(x) = look(a, b) && x > 1 {",
        ),
    ] {
        let text = instrumented(&format!("fn f() {{\n{text}}}"));
        assert!(text.lines().any(|line| line == expected), "{text}");
    }
}

#[test]
fn a_mutant_has_its_function_and_a_key_distinct_from_equal_mutants() {
    let text = "fn f() {}\nfn g() { a.load(Ordering::Acquire);\na.load(Ordering::Acquire);\na.load(Ordering::Acquire); }";
    let mutants = of(&file(text), text);
    assert!(mutants.iter().all(|mutant| mutant.function == "g"));
    assert_eq!(
        mutants[1].to_string(),
        "crates/a/src/word.rs:3 g: Acquire to Relaxed"
    );
    assert_ne!(mutants[1].key, mutants[2].key);
}

#[test]
fn a_key_is_unchanged_by_a_line_inserted_above() {
    let text = "fn g() {\n    a.load(Ordering::Acquire);\n}";
    let longer = format!("// Words.\n{text}");
    let (before, after) = (of(&file(text), text), of(&file(&longer), &longer));
    assert_eq!(before[0].key, after[0].key);
    assert_ne!(before[0].line, after[0].line);
}

#[test]
fn files_that_argue_an_ordering_or_check_before_sleep_are_mutable() {
    assert!(is_mutable("fn f() {\n    // ORDERING: alone.\n}"));
    assert!(is_mutable("// CHECK: alone.\nfn f() {}"));
    assert!(!is_mutable("fn f() {} // the ORDERING: of words"));
}
