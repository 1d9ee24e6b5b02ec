//! Files from raw descriptors.

use std::io::{ErrorKind, Read};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use raddle_fs::File;

#[test]
fn a_file_from_a_raw_descriptor_has_that_descriptor() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("content");
    std::fs::write(&path, "content").unwrap();
    let fd = std::fs::File::open(path).unwrap().into_raw_fd();
    // SAFETY: nothing else owns the descriptor.
    let file = unsafe { File::from_raw_fd(fd) };
    assert_eq!(file.as_raw_fd(), fd);
    let mut text = String::new();
    let mut std = file.try_into_std().expect("no call is running");
    std.read_to_string(&mut text).unwrap();
    assert_eq!(text, "content");
}

#[test]
fn dropping_a_file_from_a_raw_descriptor_closes_it() {
    let (mut reading, writing) = UnixStream::pair().unwrap();
    let fd = OwnedFd::from(writing).into_raw_fd();
    // SAFETY: nothing else owns the descriptor.
    let file = unsafe { File::from_raw_fd(fd) };
    drop(file);
    let mut rest = Vec::new();
    let end = reading.read_to_end(&mut rest);
    assert_eq!(
        end.map_err(|error: std::io::Error| error.kind()),
        Ok::<_, ErrorKind>(0)
    );
}
