use super::*;

#[test]
fn a_line_is_parsed_into_name_and_kind() {
    let text = "# comment\n\ntokio/a::b | panic-text | ours names the cure\n";
    let accepted = parse(text).unwrap();
    assert_eq!(
        accepted,
        [("tokio/a::b".to_owned(), Kind::PanicText)].into()
    );
}

#[test]
fn a_line_without_reason_or_with_another_kind_is_refused() {
    for line in [
        "tokio/a::b | panic-text |",
        "tokio/a::b | flaky | slow",
        "tokio/a::b",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
    let twice = "a/b::c | behaviour | x\na/b::c | behaviour | y";
    assert!(parse(twice).is_err());
}
