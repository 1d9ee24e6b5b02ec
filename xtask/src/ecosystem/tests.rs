use super::*;

#[test]
fn only_the_package_at_the_path_is_the_stand_in() {
    let path = Path::new("/raddle/crates/tokio");
    let stand_in = "tokio v1.99.0 (/raddle/crates/tokio)\n";
    assert!(is_stand_in(stand_in, path).is_ok());
    assert!(is_stand_in("", path).is_err());
    assert!(is_stand_in("tokio v1.54.1\n", path).is_err());
    assert!(is_stand_in(&format!("{stand_in}tokio v1.54.1\n"), path).is_err());
}
