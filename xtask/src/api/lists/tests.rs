use super::super::docs::Item;
use super::*;

#[test]
fn an_item_in_no_list_is_reported() {
    let item = |kind: &str, members: &[(&str, bool)], is_future| Item {
        kind: kind.to_owned(),
        members: members.iter().map(|(m, f)| ((*m).to_owned(), *f)).collect(),
        is_future,
        ..Item::default()
    };
    let tokio: Items = [
        (
            "a::Lock",
            item("struct", &[("lock", true), ("new", false)], false),
        ),
        ("a::LockGuard", item("struct", &[], false)),
        (
            "a::ReadExt",
            item("trait", &[("read", false), ("take", false)], false),
        ),
        ("a::copy", item("function", &[], true)),
        ("a::make", item("function", &[], false)),
    ]
    .map(|(path, item)| (path.to_owned(), item))
    .into();
    let types = "types! { rows;\n a::Lock<T>;\n a::LockGuard<'static, T>;\n}";
    let futures = "&'static a::Lock<T> =>\n lock(), unlock();\n&'static mut Stream<T> => \
                   read(value());\n a::copy(1);";
    assert!(unlisted(&tokio, types, futures).is_empty());
    assert_eq!(
        unlisted(
            &tokio,
            "a::Lock<T>; // a::LockGuard",
            "a::Lock<T> => unlock(); a::copy_buf();"
        ),
        [
            "a::Lock::lock",
            "a::LockGuard",
            "a::ReadExt::read",
            "a::copy"
        ]
        .map(|path| format!("{path} is not in the lists of xtask/proof/tests/api"))
    );
}
