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

#[track_caller]
fn expect(row: &str, finding: &[&str]) {
    let page = format!("| seen in | what went wrong | tests |\n|---|---|---|\n{row}\n");
    let file = |path: &str| (path == "a/tests/b.rs").then(|| SOURCE.to_owned());
    let expected = finding.iter().map(|what| format!("{PAGE}:3: {what}"));
    assert_eq!(rows(&page, file).unwrap(), expected.collect::<Vec<_>>());
}

#[test]
fn a_row_whose_test_names_the_bug_is_accepted() {
    expect("| tokio 12 | lost | `a/tests/b.rs::it_is_found` |", &[]);
    let row = "| RUSTSEC-2020-0001, async-task 9, tokio 12 | bad | \
               `a/tests/b.rs::it_is_found`, `a/tests/b.rs::it_is_sound` |";
    expect(row, &[]);
}

#[test]
fn a_row_that_names_a_missing_test_is_reported() {
    for test in ["b.rs::gone", "c.rs::it_is_found", "b.rs::helps"] {
        let row = format!("| - | lost | `a/tests/{test}` |");
        expect(&row, &[&format!("there is no test a/tests/{test}")]);
    }
}

#[test]
fn a_row_whose_tests_do_not_name_the_bug_is_reported() {
    let missing = "no doc comment of its tests names";
    let row = "| tokio 12, 13 | lost | `a/tests/b.rs::it_is_found` |";
    expect(row, &[&format!("{missing} 13")]);
    // A number that contains another does not name it.
    let row = "| tokio 1 | lost | `a/tests/b.rs::it_is_found` |";
    expect(row, &[&format!("{missing} 1")]);
}

#[test]
fn a_row_without_a_test_is_reported() {
    let row = "| tokio 12 | lost | none |";
    expect(row, &["no test is named for tokio 12"]);
}
