//! Passing descriptors over Unix sockets.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::pin::pin;

use raddle_io::{AsyncReadExt, AsyncWriteExt};
use raddle_net::{UnixDatagram, UnixListener, UnixStream};
use raddle_testing::poll;

use crate::common::{both, run};

/// A file without a name that contains `text`.
fn file(text: &str) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

/// The text of the file that a descriptor is open for.
fn text(fd: OwnedFd) -> String {
    let mut file = File::from(fd);
    let mut text = String::new();
    file.rewind().unwrap();
    file.read_to_string(&mut text).unwrap();
    text
}

fn inode(file: &File) -> u64 {
    file.metadata().unwrap().ino()
}

/// Whether a program that this process executes gets the descriptor.
fn is_inherited(fd: BorrowedFd<'_>) -> bool {
    // SAFETY: the call reads the flags of an open descriptor.
    let flags = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFD) };
    assert!(flags >= 0);
    flags & libc::FD_CLOEXEC == 0
}

#[test]
fn a_descriptor_arrives_with_its_bytes() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let (near, accepted) = both(UnixStream::connect(&path), listener.accept()).await;
        let (near, far) = (near.unwrap(), accepted.unwrap().0);

        let mut fds = Vec::new();
        let mut buffer = [0; 16];
        let sent = file("contents");
        let send = async {
            let length = near.send_with_fds(b"bytes", &[sent.as_fd()]).await;
            assert_eq!(length.unwrap(), 5);
        };
        // The receiver waits first.
        let (length, ()) = both(far.recv_with_fds(&mut buffer, &mut fds), send).await;
        assert_eq!((&buffer[..length.unwrap()], fds.len()), (&b"bytes"[..], 1));
        assert!(!is_inherited(fds[0].as_fd()));
        let received = File::from(fds.pop().unwrap());
        assert_eq!(inode(&received), inode(&sent));
        // It is a descriptor of its own.
        drop(sent);
        assert_eq!(text(received.into()), "contents");
    });
}

#[test]
fn several_descriptors_keep_their_order_up_to_the_limit() {
    run(async {
        let (near, far) = UnixStream::pair().unwrap();
        let files: Vec<File> = (0..253).map(|n| file(&n.to_string())).collect();
        let fds: Vec<BorrowedFd<'_>> = files.iter().map(AsFd::as_fd).collect();
        near.send_with_fds(b"x", &fds).await.unwrap();
        // They are appended.
        let mut received = vec![OwnedFd::from(file("own"))];
        let length = far.recv_with_fds(&mut [0; 8], &mut received).await.unwrap();
        assert_eq!((length, received.len()), (1, 254));
        assert_eq!(text(received.remove(0)), "own");
        for (n, fd) in received.into_iter().enumerate() {
            assert_eq!(text(fd), n.to_string());
        }

        let too_many = [files[0].as_fd(); 254];
        let error = near.send_with_fds(b"x", &too_many).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let error = near.try_send_with_fds(b"x", &too_many).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn a_stream_needs_a_byte_to_carry_descriptors() {
    run(async {
        let (near, far) = UnixStream::pair().unwrap();
        let sent = file("");
        let error = near.send_with_fds(b"", &[sent.as_fd()]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        near.send_with_fds(b"x", &[sent.as_fd()]).await.unwrap();
        let mut fds = Vec::new();
        let error = far.recv_with_fds(&mut [], &mut fds).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(far.recv_with_fds(&mut [0; 8], &mut fds).await.unwrap(), 1);
        assert_eq!(fds.len(), 1);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn the_descriptors_of_two_sends_are_not_mixed() {
    run(async {
        let (mut near, far) = UnixStream::pair().unwrap();
        let [first, second] = ["first", "second"].map(file);
        near.write_all(b"plain").await.unwrap();
        near.send_with_fds(b"ab", &[first.as_fd()]).await.unwrap();
        near.send_with_fds(b"c", &[second.as_fd(), first.as_fd()])
            .await
            .unwrap();
        near.write_all(b"rest").await.unwrap();
        drop(near);
        let mut received = Vec::new();
        loop {
            let (mut fds, mut buffer) = (Vec::new(), [0; 1]);
            if far.recv_with_fds(&mut buffer, &mut fds).await.unwrap() == 0 {
                break;
            }
            received.push((buffer[0], fds.into_iter().map(text).collect::<Vec<_>>()));
        }
        let bytes: Vec<u8> = received.iter().map(|(byte, _)| *byte).collect();
        assert_eq!(bytes, b"plainabcrest");
        // They come with the first byte of their send.
        let with_fds: Vec<_> = received.iter().filter(|(_, fds)| !fds.is_empty()).collect();
        let first = vec!["first".to_owned()];
        let both = vec!["second".to_owned(), "first".to_owned()];
        assert_eq!(with_fds, [&(b'a', first), &(b'c', both)]);
    });
}

#[test]
fn a_plain_read_drops_descriptors_and_loses_no_bytes() {
    run(async {
        let (near, mut far) = UnixStream::pair().unwrap();
        // The reader sees the end when the last descriptor of the writer is closed.
        let (mut reader, writer) = std::os::unix::net::UnixStream::pair().unwrap();
        near.send_with_fds(b"one", &[writer.as_fd()]).await.unwrap();
        near.send_with_fds(b"two", &[writer.as_fd()]).await.unwrap();
        drop(writer);
        let mut bytes = [0; 6];
        far.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"onetwo");
        assert_eq!(reader.read(&mut [0; 1]).unwrap(), 0);
    });
}

#[test]
fn descriptors_that_are_never_received_are_closed() {
    run(async {
        let (near, far) = UnixStream::pair().unwrap();
        let (mut reader, writer) = std::os::unix::net::UnixStream::pair().unwrap();
        near.send_with_fds(b"x", &[writer.as_fd()]).await.unwrap();
        drop(writer);
        {
            let mut fds = Vec::new();
            far.recv_with_fds(&mut [0; 8], &mut fds).await.unwrap();
            near.send_with_fds(b"x", &[fds[0].as_fd()]).await.unwrap();
        }
        drop((near, far));
        assert_eq!(reader.read(&mut [0; 1]).unwrap(), 0);
    });
}

#[test]
fn a_dropped_receive_loses_neither_bytes_nor_descriptors() {
    run(async {
        let (near, far) = UnixStream::pair().unwrap();
        let (mut fds, mut buffer) = (Vec::new(), [0; 8]);
        {
            let mut receive = pin!(far.recv_with_fds(&mut buffer, &mut fds));
            assert!(poll(receive.as_mut()).is_pending());
            near.send_with_fds(b"x", &[file("kept").as_fd()])
                .await
                .unwrap();
        }
        assert!(fds.is_empty());
        far.recv_with_fds(&mut buffer, &mut fds).await.unwrap();
        assert_eq!(text(fds.remove(0)), "kept");
        let error = far.try_recv_with_fds(&mut buffer, &mut fds).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn a_send_waits_for_room() {
    run(async {
        let (near, mut far) = UnixStream::pair().unwrap();
        let filler = vec![7; 64 * 1024];
        let mut filled = 0;
        while let Ok(length) = near.try_write(&filler) {
            filled += length;
        }
        let sent = file("late");
        let fds = [sent.as_fd()];
        {
            let mut dropped = pin!(near.send_with_fds(b"never", &fds));
            assert!(poll(dropped.as_mut()).is_pending());
        }
        let mut send = pin!(near.send_with_fds(b"x", &fds));
        assert!(poll(send.as_mut()).is_pending());
        let error = near.try_send_with_fds(b"x", &fds).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        let mut bytes = vec![0; filled];
        let (sent, read) = both(send, far.read_exact(&mut bytes)).await;
        assert_eq!((sent.unwrap(), read.unwrap()), (1, filled));
        let mut received = Vec::new();
        assert_eq!(
            far.recv_with_fds(&mut [0; 8], &mut received).await.unwrap(),
            1
        );
        assert_eq!(text(received.remove(0)), "late");
    });
}

#[test]
fn the_end_and_a_closed_peer_are_returned_as_by_other_operations() {
    run(async {
        let (mut near, far) = UnixStream::pair().unwrap();
        near.shutdown().await.unwrap();
        let mut fds = Vec::new();
        assert_eq!(far.recv_with_fds(&mut [0; 8], &mut fds).await.unwrap(), 0);
        drop(near);
        // A signal would end the process.
        let error = far
            .send_with_fds(b"x", &[file("").as_fd()])
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        assert!(fds.is_empty());
    });
}

#[test]
fn without_descriptors_they_are_a_plain_send_and_receive() {
    run(async {
        let (near, far) = UnixStream::pair().unwrap();
        assert_eq!(near.send_with_fds(b"bytes", &[]).await.unwrap(), 5);
        let mut fds = Vec::new();
        assert_eq!(far.recv_with_fds(&mut [0; 8], &mut fds).await.unwrap(), 5);
        assert!(fds.is_empty());
    });
}

#[test]
fn datagrams_carry_descriptors_and_may_be_empty() {
    run(async {
        let (near, far) = UnixDatagram::pair().unwrap();
        let [first, second] = ["first", "second"].map(file);
        let mut fds = Vec::new();
        let mut buffer = [0; 4];
        {
            let mut receive = pin!(far.recv_with_fds(&mut buffer, &mut fds));
            assert!(poll(receive.as_mut()).is_pending());
            near.send_with_fds(b"", &[first.as_fd()]).await.unwrap();
            near.try_send_with_fds(b"longer", &[second.as_fd()])
                .unwrap();
            assert_eq!(receive.await.unwrap(), 0);
        }
        // What does not fit is lost, as by `recv`.
        assert_eq!(far.recv_with_fds(&mut buffer, &mut fds).await.unwrap(), 4);
        let texts: Vec<_> = fds.drain(..).map(text).collect();
        assert_eq!(texts, ["first", "second"]);
        near.send(b"none").await.unwrap();
        assert_eq!(far.recv_with_fds(&mut buffer, &mut fds).await.unwrap(), 4);
        assert!(fds.is_empty());
        // Descriptors that a plain receive leaves out are closed.
        let (mut reader, writer) = std::os::unix::net::UnixStream::pair().unwrap();
        near.send_with_fds(b"x", &[writer.as_fd()]).await.unwrap();
        drop(writer);
        assert_eq!(far.recv(&mut buffer).await.unwrap(), 1);
        assert_eq!(reader.read(&mut [0; 1]).unwrap(), 0);
    });
}
