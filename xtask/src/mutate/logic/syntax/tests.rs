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

/// Checks what `fn f() { BODY }` becomes, for each body.
fn bodies_become(cases: &[(&str, &[&str])]) {
    for (body, expected) in cases {
        let function = |body: &&str| format!("fn f() {{ {body} }}");
        let expected: Vec<_> = expected.iter().map(function).collect();
        assert_eq!(changed(&function(body)), expected);
    }
}

#[test]
fn conditions_become_constants_but_no_loop_is_made_endless() {
    bodies_become(&[
        ("if a { b }", &["if false { b }", "if true { b }"]),
        ("while a { b }", &["while false { b }"]),
        (
            "if let Some(a) = b && a.c() { a }",
            &["if false && let Some(a) = b && a.c() { a }"],
        ),
        (
            "while let Some(a) = b { a }",
            &["while false && let Some(a) = b { a }"],
        ),
        ("if cfg!(raddle_loom) { a } else { b }", &[]),
    ]);
}

#[test]
fn operators_guards_and_arms_are_replaced() {
    bodies_become(&[
        ("a < b", &["a == b", "a > b", "a <= b"]),
        ("a |= !b;", &["a &= !b;", "a |= b;"]),
        (
            "match a { B if c => d, E => g, _ => h }",
            &[
                "match a { B if true => d, E => g, _ => h }",
                "match a { B if false => d, E => g, _ => h }",
                "match a { B if c => d,  _ => h }",
            ],
        ),
        ("match a { B => d, E => g }", &[]),
    ]);
}

#[test]
fn calls_assignments_and_jumps_are_dropped() {
    let text = "fn f() { a(); b.c(); d = e; f += g; { return; } let _ = h(); let i = j(); k!(); }";
    let mut dropped: Vec<_> = changes(text).unwrap();
    dropped.retain(|change| change.words.contains("dropped"));
    let words = dropped
        .iter()
        .map(|change| change.words.trim_end_matches(" dropped"));
    let words: Vec<_> = words.map(|words| words.trim_matches('`')).collect();
    let expected = [
        "a();",
        "b.c();",
        "d = e;",
        "f += g;",
        "let _ = h();",
        "return;",
    ];
    assert_eq!(words, expected);
    // The only statement of a function goes with its body.
    bodies_become(&[("a();", &[]), ("loop { a(); }", &["loop {  }"])]);
}

#[test]
fn an_integer_becomes_one_larger_but_a_bit_keeps_its_place() {
    assert!(changed("const A: u32 = 1 << 5; const B: u32 = ((1 << 5) - 1) as u32;").is_empty());
    assert_eq!(changed("const A: u32 = 0xFu32;"), ["const A: u32 = 16u32;"]);
    bodies_become(&[("a(7)", &["a(8)"])]);
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
fn a_body_becomes_constants_of_its_type() {
    let values = |output: &str| -> Vec<String> {
        let text = format!("fn f(){output} {{ a }}");
        let changed = changed_by("replace f", &text);
        let value = |text: &String| text.rsplit_once("{ ").unwrap().1.replace(" }", "");
        changed.iter().map(value).collect()
    };
    for (output, expected) in [
        ("", &["()"][..]),
        (" -> bool", &["true", "false"]),
        (" -> Option<u8>", &["None", "Some(0)", "Some(1)"]),
        (" -> io::Result<A>", &["Ok(Default::default())"]),
        (" -> (bool,)", &["(true,)", "(false,)"]),
        (" -> !", &[]),
    ] {
        assert_eq!(values(output), expected, "{output}");
    }
    // A body that does nothing stays.
    assert!(changed_by("replace", "fn f(a: A) {}").is_empty());
    assert!(changed_by("replace", "fn f(a: A, b: B) { let _ = (a, b); let _ = a; }").is_empty());
}

#[test]
fn constants_and_patterns_take_no_switch() {
    let text = "const A: [u8; 2] = [1; 2]; fn f() { match a { 1 => 2, _ => b::<3>([0; 4]) } }";
    let changes = changes(text).unwrap();
    let switched = changes.iter().filter(|change| change.schema.is_some());
    let switched: Vec<_> = switched.map(|change| &text[change.range.clone()]).collect();
    let body = "{ match a { 1 => 2, _ => b::<3>([0; 4]) } }";
    assert_eq!(switched, [body, "1 => 2,", "2", "0"]);
}
