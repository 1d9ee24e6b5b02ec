use super::*;
use docs::Item;

fn items(of: &[(&str, &[&str])]) -> Items {
    let item = |members: &[&str]| Item {
        members: members.iter().map(|m| ((*m).to_owned(), false)).collect(),
        ..Item::default()
    };
    of.iter()
        .map(|(path, members)| ((*path).to_owned(), item(members)))
        .collect()
}

#[test]
fn missing_items_and_members_are_found() {
    let theirs = items(&[("a", &[]), ("a::B", &["new", "old"]), ("a::C", &[])]);
    let ours = items(&[("a", &[]), ("a::B", &["new"])]);
    assert_eq!(
        missing(&theirs, &ours),
        ["a::B::old is missing", "a::C is missing"]
    );
    assert!(missing(&ours, &theirs).is_empty());
}

#[test]
fn items_and_members_without_an_example_are_reported() {
    let without_example = ["", "wait"].map(str::to_owned).into();
    let item = Item {
        without_example,
        ..Item::default()
    };
    let items = Items::from([("net::A".to_owned(), item)]);
    let expected = ["net::A lacks an example", "net::A::wait lacks an example"];
    assert_eq!(super::without_example(&items), expected);
}

#[test]
fn a_listed_item_that_exists_is_reported() {
    let theirs = items(&[("runtime::HistogramScale", &[])]);
    assert!(missing(&theirs, &items(&[])).is_empty());
    assert_eq!(
        missing(&theirs, &theirs),
        ["runtime::HistogramScale exists, but is listed as absent"]
    );
}
