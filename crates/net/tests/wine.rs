//! What Wine 8 does not do as Windows does, on std and mio alone: each test here fails under it,
//! and names the tests that find this out first.
//!
//! `cargo test -p raddle-net --target x86_64-pc-windows-gnu --test wine -- --ignored`
#![cfg(all(windows, not(raddle_loom)))]

use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use mio::windows::NamedPipe;
use socket2::SockRef;

/// `a_reset_is_returned_as_an_error`, `a_reset_wakes_all_waiters`,
/// `options_of_a_stream_are_set_on_its_socket`.
#[test]
#[ignore = "fails under Wine 8: the other side reads the end"]
fn closing_without_lingering_resets_a_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut far, _) = listener.accept().unwrap();
    SockRef::from(&near)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(near);
    let error = far.read(&mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

/// `the_first_instance_is_refused_while_there_is_one`.
#[test]
#[ignore = "fails under Wine 8: it ignores FILE_FLAG_FIRST_PIPE_INSTANCE"]
fn a_second_first_instance_of_a_pipe_is_refused() {
    let name = format!(r"\\.\pipe\raddle-wine-{}", std::process::id());
    let _first = NamedPipe::new(&name).unwrap();
    assert!(NamedPipe::new(&name).is_err());
}

/// `files_are_written_read_and_moved`.
#[test]
#[ignore = "fails under Wine 8: it copies, and says that nothing was copied"]
fn copying_a_file_returns_its_size() {
    let directory = tempfile::tempdir().unwrap();
    let (from, to) = (directory.path().join("from"), directory.path().join("to"));
    std::fs::write(&from, "12345").unwrap();
    assert_eq!(std::fs::copy(&from, &to).unwrap(), 5);
}

/// `an_impossible_stack_size_is_refused`.
#[test]
#[ignore = "ends the process under Wine 8, at the last size"]
fn a_stack_of_nearly_all_memory_is_refused() {
    for size in [usize::MAX / 16 * 15, 0, usize::MAX] {
        println!("a stack of {size} bytes");
        let thread = std::thread::Builder::new().stack_size(size).spawn(|| ());
        assert_eq!(thread.is_ok(), size == 0);
        thread
            .map(|thread| thread.join().unwrap())
            .unwrap_or_default();
    }
}
