use super::{Token, write_url};

#[test]
fn a_token_equals_only_itself() {
    let token = Token::random().unwrap();
    assert_eq!(token.as_str().len(), 32);
    assert!(token.is(token.as_str()));
    let text = token.as_str().to_owned();
    assert!(!token.is(&text[..31]));
    assert!(!token.is(&format!("{text}0")));
    assert!(!token.is(""));
    assert!(!token.is(Token::random().unwrap().as_str()));
}

#[test]
fn a_supplied_token_is_long_and_needs_no_escapes_in_a_url() {
    let supplied = |token: &str| Token::supplied(token.to_owned());
    assert!(supplied("0123456789abc-_Z").is_ok());
    for token in [
        "",
        "0123456789abcde",
        "0123456789abcde&",
        "0123456789abcdef\r\n",
        "éééééééééé",
    ] {
        let error = supplied(token).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{token}");
        assert!(error.to_string().contains("at least 16"), "{error}");
    }
}

#[test]
#[cfg(unix)]
fn the_file_of_the_url_is_readable_by_its_owner_only_and_replaces_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let directory = std::env::temp_dir().join(format!("raddle-url-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let (path, other) = (directory.join("url"), directory.join("other"));
    std::fs::write(&other, "unchanged").unwrap();
    symlink(&other, &path).unwrap();
    for url in ["http://first", "http://second"] {
        write_url(&path, url).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{url}\n"));
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        assert!(metadata.is_file());
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "unchanged");
    let error = write_url(&directory.join("no/url"), "http://x").unwrap_err();
    assert!(error.to_string().contains("no/url"), "{error}");
    std::fs::remove_dir_all(&directory).unwrap();
}
