use super::*;

#[test]
fn this_machine_reports_its_cores_and_versions() {
    let machine = Machine::this();
    assert!(machine.cores > 0);
    let named = |name| machine.versions.iter().any(|(package, _)| package == name);
    assert!(named("raddle") && named("tokio"), "{machine:?}");
}

#[test]
fn versions_are_read_from_the_lock_file() {
    let lock = "[[package]]\nname = \"tokio\"\nversion = \"1.2.3\"\n\n[[package]]\nname = \"other\"\nversion = \"1\"\n";
    assert_eq!(versions(lock), [("tokio".to_owned(), "1.2.3".to_owned())]);
}
