use super::*;

fn files(texts: &[(&str, &str)]) -> Vec<File> {
    let file = |(path, text): &(&str, &str)| {
        File::new(
            "raddle-queue",
            format!("crates/queue/src/{path}").into(),
            text,
        )
        .unwrap()
    };
    texts.iter().map(file).collect()
}

fn check_queue(texts: &[(&str, &str)]) -> Vec<String> {
    check("raddle-queue", &files(texts))
}

#[test]
fn folders_that_import_each_other_are_found() {
    let there = ("a/x.rs", "use crate::b::y::Y;");
    let back = ("b/z.rs", "fn f() { crate::a::w::g(); }");
    let rest = [("a/w.rs", ""), ("b/y.rs", ""), ("a.rs", ""), ("b.rs", "")];
    let found = check_queue(&[&rest[..], &[there, back]].concat());
    assert_eq!(
        found,
        ["raddle-queue: these import each other in a circle: a, b"]
    );
    assert!(check_queue(&[&rest[..], &[there]].concat()).is_empty());
}

#[test]
fn four_files_in_a_circle_are_found_and_three_are_not() {
    let three = [
        ("a.rs", "use crate::b::B;"),
        ("b.rs", "use super::c::{C, D};"),
        ("c.rs", "use crate::{a::A, d};"),
    ];
    assert!(check_queue(&[&three[..], &[("d.rs", "")]].concat()).is_empty());
    let found = check_queue(&[&three[..], &[("d.rs", "use crate::a::A;")]].concat());
    assert_eq!(
        found,
        ["raddle-queue: these import each other in a circle: a, b, c, d"]
    );
}

#[test]
fn an_item_is_imported_from_where_it_is_defined() {
    let texts = [
        (
            "lib.rs",
            "mod a; mod b; pub use a::inner::Thing; pub use b::*;",
        ),
        ("a.rs", "mod inner; mod other; pub(crate) use inner::Thing;"),
        ("a/inner.rs", "pub struct Thing;"),
        ("a/other.rs", "use super::Thing; use crate::Function;"),
        ("b.rs", "use crate::Thing; pub fn f() { crate::a::Thing; }"),
    ];
    let files = files(&texts);
    let imports = Modules::of(&files).imports();
    let of = |module: &[&str]| {
        let module: Vec<_> = module.iter().map(|part| (*part).to_owned()).collect();
        let used = imports[&module].iter().map(|used| used.join("/"));
        used.collect::<Vec<_>>()
    };
    assert_eq!(of(&["b"]), ["a/inner"]);
    assert_eq!(of(&["a", "other"]), ["a/inner", "b"]);
    assert!(of(&["a"]).is_empty(), "it only exports");
}

#[test]
fn a_known_circle_that_is_gone_is_reported() {
    let found = check("raddle-timer", &[]);
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("is gone"), "{found:?}");
}

#[test]
fn crates_that_are_no_layers_may_have_cycles() {
    let circle = files(&[
        ("a/x.rs", "use crate::b::y::Y;"),
        ("b/y.rs", "use crate::a::x::X;"),
    ]);
    assert!(check("raddle", &circle).is_empty());
}
