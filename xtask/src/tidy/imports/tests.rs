use super::*;

fn files(texts: &[(&str, &str)]) -> Vec<File> {
    let file = |(path, text): &(&str, &str)| {
        let path = format!("crates/queue/src/{path}");
        File::new("raddle-queue", path.into(), text).unwrap()
    };
    texts.iter().map(file).collect()
}

#[track_caller]
fn expect_circle(texts: &[&[(&str, &str)]], expected: Option<&str>) {
    let found = check("raddle-queue", &files(&texts.concat()));
    let message = |circle| format!("raddle-queue: these import each other in a circle: {circle}");
    assert_eq!(found, Vec::from_iter(expected.map(message)));
}

#[test]
fn folders_that_import_each_other_are_found() {
    let there = ("a/x.rs", "use crate::b::y::Y;");
    let back = ("b/z.rs", "fn f() { crate::a::w::g(); }");
    let rest = [("a/w.rs", ""), ("b/y.rs", ""), ("a.rs", ""), ("b.rs", "")];
    expect_circle(&[&rest, &[there, back]], Some("a, b"));
    expect_circle(&[&rest, &[there]], None);
}

#[test]
fn four_files_in_a_circle_are_found_and_three_are_not() {
    let three = [
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use super::c::{C, D};"),
        ("c.rs", "use crate::{a::A, d};"),
    ];
    expect_circle(&[&three, &[("d.rs", "")]], None);
    expect_circle(
        &[&three, &[("d.rs", "use crate::a::A;")]],
        Some("a, b, c, d"),
    );
}

#[test]
fn paths_are_read_from_groups_and_from_code() {
    let text = "pub(crate) use a::{self, b::{C, D as E}, *};\n\
                use x::y; fn f() { z::g::<u8>(h::I); <T as U>::v; w } struct S { s: t::R }";
    let expected = [
        "pub a",
        "pub a::b::C",
        "pub a::b::D",
        // An item is found under both of its names.
        "pub a::b::E",
        "pub a::*",
        "x::y",
        "z::g",
        "h::I",
        "t::R",
    ];
    let found = paths(&files(&[("a.rs", text)])[0].tokens);
    let found = found.iter().map(|(is_export, path)| {
        let export = if *is_export { "pub " } else { "" };
        format!("{export}{}", path.join("::"))
    });
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn an_item_is_imported_from_where_it_is_defined() {
    let root = "mod a; mod b; pub use a::inner::Thing; pub use b::*;";
    let files = files(&[
        ("lib.rs", root),
        ("a.rs", "mod inner; mod other; pub(crate) use inner::Thing;"),
        ("a/inner.rs", "pub struct Thing;"),
        ("a/other.rs", "use super::Thing; use crate::Function;"),
        ("b.rs", "use crate::Thing; pub fn f() { crate::a::Thing; }"),
    ]);
    let imports = Modules::of(&files).imports();
    let of = |module: &[&str]| {
        let module: Vec<_> = module.iter().map(|part| (*part).to_owned()).collect();
        let used = imports[&module].iter().map(|used| used.join("/"));
        used.collect::<Vec<_>>()
    };
    assert_eq!(of(&["b"]), ["a/inner"]);
    assert_eq!(of(&["a", "other"]), ["a/inner", "b"]);
    assert!(
        of(&["a"]).is_empty(),
        "a module that only exports imports nothing"
    );
}

#[test]
fn a_known_circle_that_is_gone_is_reported() {
    let found = check("raddle-timer", &[]);
    assert!(
        found.len() == 1 && found[0].contains("is gone"),
        "{found:?}"
    );
}

#[test]
fn crates_that_are_no_layers_may_have_cycles() {
    let there = ("a/x.rs", "use crate::b::y::Y;");
    let back = ("b/y.rs", "use crate::a::x::X;");
    assert!(check("raddle", &files(&[there, back])).is_empty());
}
