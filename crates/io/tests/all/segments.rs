//! `AsyncBufReadExt::split`.

use std::io::ErrorKind;
use std::pin::pin;

use raddle_io::{AsyncBufReadExt, BufReader};
use raddle_testing::poll_once;

use crate::common::{Script, block_on};

async fn all(input: &[u8]) -> Vec<String> {
    let mut segments = AsyncBufReadExt::split(input, b';');
    let mut all = Vec::new();
    while let Some(segment) = segments.next_segment().await.unwrap() {
        all.push(String::from_utf8(segment).unwrap());
    }
    assert!(segments.next_segment().await.unwrap().is_none());
    all
}

#[test]
fn segments_end_at_the_delimiter_or_the_end() {
    block_on(async {
        assert_eq!(all(b"").await, Vec::<String>::new());
        assert_eq!(all(b"a;bc;\r\n").await, ["a", "bc", "\r\n"]);
        assert_eq!(all(b"a;").await, ["a"]);
        assert_eq!(all(b";;a").await, ["", "", "a"]);
    });
}

#[test]
fn a_dropped_segment_is_continued_by_the_next_call() {
    let script = Script::new()
        .give("ab")
        .read_pending()
        .read_error(ErrorKind::Interrupted)
        .give("c;d")
        .read_error(ErrorKind::ConnectionReset)
        .give("e");
    let mut segments = AsyncBufReadExt::split(BufReader::new(script), b';');
    assert!(poll_once(pin!(segments.next_segment())).is_pending());
    block_on(async {
        assert_eq!(segments.next_segment().await.unwrap().unwrap(), b"abc");
        let error = segments.next_segment().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(segments.next_segment().await.unwrap().unwrap(), b"de");
        assert!(segments.next_segment().await.unwrap().is_none());
    });
}
