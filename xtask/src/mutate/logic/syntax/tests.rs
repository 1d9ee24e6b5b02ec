use super::*;

/// What a text becomes, for each change in order.
fn changed(text: &str) -> Vec<String> {
    let apply = |change: Change| {
        let (before, after) = (&text[..change.range.start], &text[change.range.end..]);
        format!("{before}{}{after}", change.replacement)
    };
    changes(text).unwrap().into_iter().map(apply).collect()
}

#[test]
fn a_condition_becomes_both_constants() {
    assert_eq!(
        changed("fn f() { if a == b { c } else { d } }"),
        [
            "fn f() { if false { c } else { d } }",
            "fn f() { if true { c } else { d } }"
        ]
    );
}

#[test]
fn a_configuration_is_left_alone() {
    assert!(changed("fn f() { if cfg!(raddle_loom) { a } else { b } }").is_empty());
}

#[test]
fn a_pattern_keeps_its_names() {
    assert_eq!(
        changed("fn f() { if let Some(a) = b && a.c() { a } }"),
        ["fn f() { if false && let Some(a) = b && a.c() { a } }"]
    );
    assert_eq!(
        changed("fn f() { while let Some(a) = b { a } }"),
        ["fn f() { while false && let Some(a) = b { a } }"]
    );
}

#[test]
fn a_loop_is_not_made_endless() {
    assert_eq!(
        changed("fn f() { while a { b } }"),
        ["fn f() { while false { b } }"]
    );
}

#[test]
fn calls_assignments_and_jumps_are_dropped() {
    let text = "fn f() { a(); b.c(); d = e; f += g; { return; } let _ = h(); let i = j(); k!(); }";
    let dropped: Vec<_> = changes(text).unwrap();
    let words: Vec<_> = dropped.iter().map(|change| change.words.as_str()).collect();
    assert_eq!(
        words,
        [
            "`a();` dropped",
            "`b.c();` dropped",
            "`d = e;` dropped",
            "`f += g;` dropped",
            "`let _ = h();` dropped",
            "`return;` dropped"
        ]
    );
}

#[test]
fn the_only_statement_of_a_function_is_left_to_cargo_mutants() {
    assert!(changed("fn f() { a(); }").is_empty());
    assert_eq!(
        changed("fn f() { loop { a(); } }"),
        ["fn f() { loop {  } }"]
    );
}

#[test]
fn an_integer_becomes_one_larger() {
    assert_eq!(
        changed("const A: u32 = 0xFu32; fn f() { a(7) }"),
        [
            "const A: u32 = 16u32; fn f() { a(7) }",
            "const A: u32 = 0xFu32; fn f() { a(8) }"
        ]
    );
}

#[test]
fn a_bit_of_a_packed_word_keeps_its_place() {
    assert!(changed("const A: u32 = 1 << 5; const B: u32 = ((1 << 5) - 1) as u32;").is_empty());
    assert_eq!(changed("const A: u32 = 61;"), ["const A: u32 = 62;"]);
}

#[test]
fn tests_models_and_debug_forms_are_left_alone() {
    let text = "#[cfg(test)] mod tests { fn f() { a(1); b(); } }\n\
                #[cfg(raddle_loom)] fn f() { a(1); b(); }\n\
                #[test] fn f() { a(1); b(); }\n\
                impl fmt::Debug for A { fn fmt() { a(1); b(); } }";
    assert!(changed(text).is_empty());
    assert_eq!(changed("#[cfg(not(raddle_loom))] fn f() { a(1) }").len(), 1);
}
