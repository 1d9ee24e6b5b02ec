//! Pipes and named pipes of Unix.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::pin::pin;

use raddle_io::{AsyncReadExt, AsyncWriteExt};
use raddle_net::unix::pipe::{self, OpenOptions, Receiver, Sender};
use raddle_reactor::Interest;
#[cfg(target_os = "linux")]
use raddle_testing::{Wakes, poll_with};
use raddle_testing::{block_on, poll};

use crate::common::{Driver, both, run};

fn fifo(dir: &Path) -> PathBuf {
    let path = dir.join("fifo");
    let name = CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: the name ends with a zero byte.
    let result = unsafe { libc::mkfifo(name.as_ptr(), 0o600) };
    assert_eq!(result, 0);
    path
}

fn is_nonblocking(fd: &impl AsRawFd) -> bool {
    // SAFETY: reads the flags of a descriptor that is open.
    let flags = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) };
    flags & libc::O_NONBLOCK != 0
}

#[test]
fn more_bytes_than_the_pipe_holds_arrive() {
    run(async {
        let (mut sender, mut receiver) = pipe::pipe().unwrap();
        let message: Vec<u8> = (0..1_000_000_u32).map(|n| n as u8).collect();
        let send = async {
            sender.write_all(&message).await.unwrap();
            sender.shutdown().await.unwrap();
            drop(sender);
        };
        let mut received = Vec::new();
        let ((), result) = both(send, receiver.read_to_end(&mut received)).await;
        result.unwrap();
        assert!(received == message);
    });
}

/// 2218: a pipe without a reader reports an error without other readiness.
#[test]
fn a_sender_without_a_reader_gets_an_error() {
    run(async {
        let (mut sender, receiver) = pipe::pipe().unwrap();
        sender.writable().await.unwrap();
        while sender.try_write(&[0; 65_536]).is_ok() {}
        let mut write = pin!(sender.write(b"x"));
        assert!(poll(write.as_mut()).is_pending());
        drop(receiver);
        assert_eq!(write.await.unwrap_err().kind(), ErrorKind::BrokenPipe);
        let ready = sender.ready(Interest::WRITABLE | Interest::ERROR).await;
        let ready = ready.unwrap();
        assert!(ready.is_write_closed() && ready.is_error(), "{ready:?}");
        assert_eq!(
            sender.try_write(b"x").unwrap_err().kind(),
            ErrorKind::BrokenPipe
        );
    });
}

#[test]
fn try_methods_return_would_block() {
    run(async {
        let (sender, receiver) = pipe::pipe().unwrap();
        let mut received = Vec::new();
        assert!(receiver.try_read_buf(&mut received).is_err());
        assert!(poll(pin!(receiver.readable())).is_pending());
        sender.writable().await.unwrap();
        assert_eq!(sender.try_write(b"ab").unwrap(), 2);
        let slices = [IoSlice::new(b"cd"), IoSlice::new(b"ef")];
        assert_eq!(sender.try_write_vectored(&slices).unwrap(), 4);
        let ready = receiver.ready(Interest::READABLE).await.unwrap();
        assert!(ready.is_readable() && !ready.is_read_closed());
        assert_eq!(receiver.try_read(&mut [0; 1]).unwrap(), 1);
        let (mut one, mut two) = ([0; 1], [0; 1]);
        let mut slices = [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)];
        assert_eq!(receiver.try_read_vectored(&mut slices).unwrap(), 2);
        assert_eq!((one[0], two[0]), (b'b', b'c'));
        assert_eq!(receiver.try_read_buf(&mut received).unwrap(), 3);
        assert_eq!(received, b"def");
        let error = receiver.try_read(&mut one).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        assert!(poll(pin!(receiver.readable())).is_pending());
        assert_eq!(sender.try_io(|| Ok(7)).unwrap(), 7);
        drop(sender);
        receiver.readable().await.unwrap();
        assert_eq!(receiver.try_read(&mut one).unwrap(), 0);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn error_readiness_can_be_awaited_alone() {
    run(async {
        let (sender, receiver) = pipe::pipe().unwrap();
        sender.writable().await.unwrap();
        let mut error = pin!(sender.ready(Interest::ERROR));
        assert!(poll(error.as_mut()).is_pending());
        drop(receiver);
        assert!(error.await.unwrap().is_error());
        // An operation that would block does not clear the error.
        let blocked = sender.try_io(|| Err::<(), _>(ErrorKind::WouldBlock.into()));
        assert!(blocked.is_err());
        assert!(sender.ready(Interest::ERROR).await.unwrap().is_error());
    });
}

/// In packet mode a read returns one packet, even if more are available.
#[test]
#[cfg(target_os = "linux")]
fn all_packets_of_a_pipe_are_read() {
    run(async {
        let (sender, mut receiver) = pipe::pipe().unwrap();
        let flags = libc::O_NONBLOCK | libc::O_DIRECT;
        // SAFETY: sets the flags of a descriptor that is open.
        let result = unsafe { libc::fcntl(sender.as_raw_fd(), libc::F_SETFL, flags) };
        assert_eq!(result, 0);
        sender.writable().await.unwrap();
        for packet in ["one", "two", "three"] {
            sender.try_write(packet.as_bytes()).unwrap();
        }
        let mut buffer = [0; 64];
        for packet in ["one", "two", "three"] {
            let length = receiver.read(&mut buffer).await.unwrap();
            assert_eq!(&buffer[..length], packet.as_bytes());
        }
    });
}

#[test]
fn named_pipes_connect_a_reader_and_a_writer() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let path = fifo(dir.path());
        let error = OpenOptions::new().open_sender(&path).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENXIO));
        let mut receiver = OpenOptions::new().open_receiver(&path).unwrap();
        let mut sender = OpenOptions::new().open_sender(&path).unwrap();
        sender.write_all(b"hello").await.unwrap();
        drop(sender);
        let mut received = String::new();
        receiver.read_to_string(&mut received).await.unwrap();
        assert_eq!(received, "hello");
        // Another sender to the same receiver.
        let mut sender = OpenOptions::new().open_sender(&path).unwrap();
        sender.write_all(b"again").await.unwrap();
        let mut buffer = [0; 5];
        let mut read = 0;
        while read < 5 {
            receiver.readable().await.unwrap();
            // The end of the former sender may be read first.
            read += receiver.read(&mut buffer[read..]).await.unwrap();
        }
        assert_eq!(&buffer, b"again");

        let file = dir.path().join("file");
        std::fs::write(&file, b"x").unwrap();
        let error = OpenOptions::new().open_receiver(&file).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

/// Bug: own, two closures that returned `WouldBlock` cleared the closed flag.
#[test]
fn the_ends_of_pipes_survive_closures_that_would_block() {
    let would_block = || Err::<(), _>(ErrorKind::WouldBlock.into());
    run(async {
        let (sender, mut receiver) = pipe::pipe().unwrap();
        drop(sender);
        for _ in 0..3 {
            receiver.readable().await.unwrap();
            assert!(receiver.try_io(would_block).is_err());
        }
        assert_eq!(receiver.read(&mut [0; 8]).await.unwrap(), 0);
        let (mut sender, receiver) = pipe::pipe().unwrap();
        drop(receiver);
        for _ in 0..3 {
            sender.writable().await.unwrap();
            assert!(sender.try_io(would_block).is_err());
        }
        let error = sender.write(b"x").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}

/// A named pipe is closed until another sender opens it. Then a read waits, and is not retried.
#[test]
#[cfg(target_os = "linux")]
fn a_read_waits_for_another_sender_of_a_named_pipe() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let path = fifo(dir.path());
        let mut receiver = OpenOptions::new().open_receiver(&path).unwrap();
        for _ in 0..3 {
            drop(OpenOptions::new().open_sender(&path).unwrap());
            while !receiver
                .ready(Interest::READABLE)
                .await
                .unwrap()
                .is_read_closed()
            {}
            assert_eq!(receiver.read(&mut [0; 8]).await.unwrap(), 0);
            let mut sender = OpenOptions::new().open_sender(&path).unwrap();
            let mut buffer = [0; 8];
            let (wakes, waker) = Wakes::new();
            let mut read = Box::pin(receiver.read(&mut buffer));
            for _ in 0..3 {
                assert!(poll_with(read.as_mut(), &waker).is_pending());
            }
            assert_eq!(wakes.get(), 0);
            sender.write_all(b"abc").await.unwrap();
            assert_eq!(read.await.unwrap(), 3);
        }
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_pipe_opened_for_reading_and_writing_never_ends() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let path = fifo(dir.path());
        let mut options = OpenOptions::new();
        options.read_write(true).unchecked(true);
        let mut sender = options.open_sender(&path).unwrap();
        let mut receiver = options.open_receiver(&path).unwrap();
        sender.write_all(b"ab").await.unwrap();
        drop(sender);
        let mut buffer = [0; 2];
        receiver.read_exact(&mut buffer).await.unwrap();
        assert!(poll(pin!(receiver.read(&mut buffer))).is_pending());
    });
}

#[test]
fn pipes_convert_from_and_to_files() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    let (sender, receiver) = pipe::pipe().unwrap();
    assert_eq!(driver.handle.registered_count(), 2);
    let (sender, receiver) = (
        sender.into_blocking_fd().unwrap(),
        receiver.into_nonblocking_fd().unwrap(),
    );
    assert_eq!(driver.handle.registered_count(), 0);
    assert!(!is_nonblocking(&sender) && is_nonblocking(&receiver));
    File::from(sender.try_clone().unwrap())
        .write_all(b"abc")
        .unwrap();
    let mut buffer = [0; 8];
    let mut file = File::from(receiver);
    assert_eq!(file.read(&mut buffer).unwrap(), 3);

    // The wrong ends of a pipe.
    let wrong = Sender::from_file(file.try_clone().unwrap()).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::InvalidInput);
    let wrong = Receiver::from_owned_fd(sender.try_clone().unwrap()).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::InvalidInput);
    let null = Receiver::from_file(File::open("/dev/null").unwrap()).unwrap_err();
    assert_eq!(null.kind(), ErrorKind::InvalidInput);

    let mut sender = Sender::from_owned_fd(sender).unwrap();
    assert!(is_nonblocking(&sender));
    let mut receiver = Receiver::from_file(file).unwrap();
    block_on(sender.write_all(b"de")).unwrap();
    assert_eq!(block_on(receiver.read(&mut buffer)).unwrap(), 2);
    let plain = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
    let refused: io::Result<Receiver> = Receiver::from_file_unchecked(plain);
    assert!(refused.is_err());
    assert_eq!(driver.handle.registered_count(), 2);
}
