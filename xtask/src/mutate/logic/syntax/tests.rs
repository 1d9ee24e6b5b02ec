use super::*;

/// What a text becomes, for each change whose words contain `words`, in order.
fn changed_by(words: &str, text: &str) -> Vec<String> {
    let apply = |change: Change| {
        let (before, after) = (&text[..change.range.start], &text[change.range.end..]);
        format!("{before}{}{after}", change.replacement)
    };
    let changes = changes(text).unwrap().into_iter();
    let wanted = changes.filter(|change| change.words.contains(words));
    wanted.map(apply).collect()
}

/// The same of all changes but those of whole bodies.
fn changed(text: &str) -> Vec<String> {
    let mut changed = changed_by("", text);
    let bodies = changed_by("replace f", text);
    changed.retain(|text| !bodies.contains(text));
    changed
}

#[test]
fn a_condition_becomes_both_constants() {
    assert_eq!(
        changed_by("holds", "fn f() { if a == b { c } else { d } }"),
        [
            "fn f() { if false { c } else { d } }",
            "fn f() { if true { c } else { d } }"
        ]
    );
}

#[test]
fn a_body_that_does_nothing_is_left_alone() {
    assert!(changed_by("replace", "fn f(a: A) {}").is_empty());
    assert!(changed_by("replace", "fn f(a: A, b: B) { let _ = (a, b); let _ = a; }").is_empty());
    assert_eq!(
        changed_by("replace", "fn f(a: A) { let _ = a.b(); }"),
        ["fn f(a: A) { () }"]
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
    let mut dropped: Vec<_> = changes(text).unwrap();
    dropped.retain(|change| change.words.contains("dropped"));
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
fn the_only_statement_of_a_function_goes_with_its_body() {
    assert_eq!(changed_by("", "fn f() { a(); }"), ["fn f() { () }"]);
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

#[test]
fn an_operator_becomes_others() {
    assert_eq!(
        changed("fn f() { a < b }"),
        ["fn f() { a == b }", "fn f() { a > b }", "fn f() { a <= b }"]
    );
    assert_eq!(
        changed("fn f() { a |= !b; }"),
        ["fn f() { a &= !b; }", "fn f() { a |= b; }"]
    );
}

#[test]
fn a_guard_and_an_arm_go() {
    assert_eq!(
        changed("fn f() { match a { B if c => d, E => g, _ => h } }"),
        [
            "fn f() { match a { B if true => d, E => g, _ => h } }",
            "fn f() { match a { B if false => d, E => g, _ => h } }",
            "fn f() { match a { B if c => d,  _ => h } }"
        ]
    );
    assert!(changed("fn f() { match a { B => d, E => g } }").is_empty());
}

#[test]
fn a_body_becomes_constants_of_its_type() {
    let values = |output: &str| -> Vec<String> {
        let text = format!("fn f(){output} {{ a }}");
        let changed = changed_by("replace f", &text);
        let value = |text: &String| text.rsplit_once("{ ").unwrap().1.replace(" }", "");
        changed.iter().map(value).collect()
    };
    assert_eq!(values(""), ["()"]);
    assert_eq!(values(" -> bool"), ["true", "false"]);
    assert_eq!(values(" -> Option<u8>"), ["None", "Some(0)", "Some(1)"]);
    assert_eq!(values(" -> io::Result<A>"), ["Ok(Default::default())"]);
    assert_eq!(
        values(" -> (bool, A)"),
        [
            "(true, Default::default(),)",
            "(false, Default::default(),)"
        ]
    );
    assert!(values(" -> !").is_empty());
}

#[test]
fn constants_and_patterns_take_no_switch() {
    let text = "const A: [u8; 2] = [1; 2]; fn f() { match a { 1 => 2, _ => b::<3>([0; 4]) } }";
    let changes = changes(text).unwrap();
    let switched = changes.iter().filter(|change| change.schema.is_some());
    let switched: Vec<_> = switched.map(|change| &text[change.range.clone()]).collect();
    assert_eq!(
        switched,
        [
            "{ match a { 1 => 2, _ => b::<3>([0; 4]) } }",
            "1 => 2,",
            "2",
            "0"
        ]
    );
}
