use super::*;

const SOURCE: &str = "\
/// tokio 12: it is lost no more.\n\
#[test]\n\
#[should_panic]\n\
fn it_is_found() {\n\
}\n\
\n\
/// RUSTSEC-2020-0001, async-task 9.\n\
#[test]\n\
fn it_is_sound() {}\n\
\n\
fn helps() {}\n";

fn findings(row: &str) -> Vec<String> {
    let page = format!("| seen in | what went wrong | tests |\n|---|---|---|\n{row}\n");
    rows(&page, |path| {
        (path == "a/tests/b.rs").then(|| SOURCE.to_owned())
    })
}

#[test]
fn a_row_whose_test_names_the_bug_is_accepted() {
    let row = "| tokio 12 | lost | `a/tests/b.rs::it_is_found` |";
    assert!(findings(row).is_empty());
    let row = "| RUSTSEC-2020-0001, async-task 9, tokio 12 | bad | \
               `a/tests/b.rs::it_is_found`, `a/tests/b.rs::it_is_sound` |";
    assert!(findings(row).is_empty());
}

#[test]
fn a_row_that_names_a_missing_test_is_reported() {
    for name in [
        "a/tests/b.rs::gone",
        "a/tests/c.rs::it_is_found",
        "a/tests/b.rs::helps",
    ] {
        let found = findings(&format!("| - | lost | `{name}` |"));
        assert_eq!(found, [format!("{PAGE}:3: there is no test {name}")]);
    }
}

#[test]
fn a_row_whose_tests_do_not_name_the_bug_is_reported() {
    let found = findings("| tokio 12, 13 | lost | `a/tests/b.rs::it_is_found` |");
    assert_eq!(
        found,
        [format!("{PAGE}:3: no doc comment of its tests names 13")]
    );
    // A part of another number is not it.
    let found = findings("| tokio 1 | lost | `a/tests/b.rs::it_is_found` |");
    assert_eq!(
        found,
        [format!("{PAGE}:3: no doc comment of its tests names 1")]
    );
}

#[test]
fn a_row_without_a_test_is_reported() {
    let found = findings("| tokio 12 | lost | none |");
    assert_eq!(found, [format!("{PAGE}:3: no test is named for tokio 12")]);
}
