use super::{MAX_NAME, name_next, take_name};

fn kept(name: &str) -> String {
    let _named = name_next(Some(name));
    take_name().unwrap()
}

#[test]
fn a_name_above_the_limit_ends_in_an_ellipsis() {
    let longest = "x".repeat(MAX_NAME);
    assert_eq!(kept(&longest), longest);
    for long in ["x".repeat(MAX_NAME + 1), "é".repeat(1 << 20)] {
        let short = kept(&long);
        assert!(short.len() <= MAX_NAME && short.len() > MAX_NAME - 5);
        assert!(long.starts_with(short.strip_suffix('…').unwrap()));
    }
}
