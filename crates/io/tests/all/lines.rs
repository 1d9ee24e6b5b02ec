//! `AsyncBufReadExt`.

use std::io::ErrorKind;
use std::pin::pin;
use std::string::FromUtf8Error;

use raddle_io::{AsyncBufReadExt, BufReader};
use raddle_testing::poll_once;

use crate::common::{Script, block_on};

fn buffered(script: Script) -> BufReader<Script> {
    BufReader::with_capacity(4, script)
}

#[test]
fn read_until_takes_the_delimiter_and_leaves_the_rest() {
    let mut reader = buffered(
        Script::new()
            .give("ab")
            .read_pending()
            .read_error(ErrorKind::Interrupted)
            .give("cdefg;hi;")
            .give("jk"),
    );
    let mut buf = Vec::from(b">;");
    block_on(async {
        assert_eq!(reader.read_until(b';', &mut buf).await.unwrap(), 8);
        assert_eq!(buf, b">;abcdefg;");
        assert_eq!(reader.read_until(b';', &mut buf).await.unwrap(), 3);
        assert_eq!(reader.read_until(b';', &mut buf).await.unwrap(), 2);
        assert_eq!(reader.read_until(b';', &mut buf).await.unwrap(), 0);
    });
    assert_eq!(buf, b">;abcdefg;hi;jk");
}

#[test]
fn a_dropped_or_failed_read_until_loses_nothing() {
    let mut reader = buffered(
        Script::new()
            .give("ab")
            .read_pending()
            .give("cd")
            .read_error(ErrorKind::ConnectionReset)
            .give("e;"),
    );
    let mut buf = Vec::new();
    assert!(poll_once(reader.read_until(b';', &mut buf)).is_pending());
    assert_eq!(buf, b"ab");
    let error = block_on(reader.read_until(b';', &mut buf)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(block_on(reader.read_until(b';', &mut buf)).unwrap(), 2);
    assert_eq!(buf, b"abcde;");
}

#[test]
fn read_line_appends_a_line_with_its_ending() {
    let mut reader = buffered(
        Script::new()
            .give("one\r")
            .read_pending()
            .give("\ntwö\n\nx"),
    );
    let mut line = String::from(">");
    block_on(async {
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 5);
        assert_eq!(line, ">one\r\n");
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 5);
        assert_eq!(line, ">one\r\ntwö\n");
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 1);
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 1);
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 0);
    });
    assert_eq!(line, ">one\r\ntwö\n\nx");
}

#[test]
fn read_line_keeps_the_string_if_the_bytes_are_not_utf_8() {
    let mut reader = buffered(
        Script::new()
            .give(b"\xC3\nab")
            .read_error(ErrorKind::ConnectionReset)
            .give("c\n"),
    );
    let mut line = String::from("ä");
    block_on(async {
        let error = reader.read_line(&mut line).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert_eq!(line, "ä");
        let error = reader.read_line(&mut line).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(line, "äab");
        assert_eq!(reader.read_line(&mut line).await.unwrap(), 2);
        assert_eq!(line, "äabc\n");
    });
}

#[test]
fn lines_are_returned_without_their_endings() {
    let script = Script::new()
        .give("one\r")
        .read_pending()
        .give("\n\ntwo\n\r\nth\rree\r");
    let mut lines = buffered(script).lines();
    let mut all = Vec::new();
    block_on(async {
        while let Some(line) = lines.next_line().await.unwrap() {
            all.push(line);
        }
        assert_eq!(lines.next_line().await.unwrap(), None);
    });
    assert_eq!(all, ["one", "", "two", "", "th\rree\r"]);
}

#[test]
fn a_dropped_next_line_loses_nothing() {
    let script = Script::new()
        .give("on")
        .read_pending()
        .give("e")
        .read_error(ErrorKind::ConnectionReset)
        .give("\ntwo\n");
    let mut lines = buffered(script).lines();
    assert!(poll_once(pin!(lines.next_line())).is_pending());
    let error = block_on(lines.next_line()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert_eq!(block_on(lines.next_line()).unwrap().unwrap(), "one");
    assert_eq!(block_on(lines.next_line()).unwrap().unwrap(), "two");
    assert_eq!(block_on(lines.next_line()).unwrap(), None);
}

#[test]
fn reading_lines_continues_after_invalid_utf_8() {
    let mut lines = (&b"a\n\xFF\nb"[..]).lines();
    block_on(async {
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "a");
        let error = lines.next_line().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        let reason = error.into_inner().unwrap().downcast::<FromUtf8Error>();
        assert_eq!(reason.unwrap().into_bytes(), b"\xFF");
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "b");
    });
}

#[test]
fn fill_buf_returns_the_same_bytes_until_they_are_consumed() {
    let script = Script::new()
        .read_pending()
        .give("abcdef")
        .read_error(ErrorKind::ConnectionReset);
    let mut reader = buffered(script);
    assert!(poll_once(reader.fill_buf()).is_pending());
    block_on(async {
        assert_eq!(reader.fill_buf().await.unwrap(), b"abcd");
        reader.consume(1);
        assert_eq!(reader.fill_buf().await.unwrap(), b"bcd");
        reader.consume(3);
        assert_eq!(reader.fill_buf().await.unwrap(), b"ef");
        reader.consume(2);
        let error = reader.fill_buf().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        assert_eq!(reader.fill_buf().await.unwrap(), b"");
    });
}
