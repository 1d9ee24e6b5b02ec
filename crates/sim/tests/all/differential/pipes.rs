//! Pipes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::unix::pipe;

use super::harness::{Log, check, compared, settle, settle_blocking};

compared! { async raddle_pipes raddle_pipe_full }
compared! { blocking ends blocking_read blocking_write std_pipes wrong_ends readiness }

fn pair(flags: i32) -> (File, File) {
    let mut fds = [0; 2];
    // SAFETY: there is room for two numbers.
    check(unsafe { libc::pipe2(fds.as_mut_ptr(), flags | libc::O_CLOEXEC) }).unwrap();
    // SAFETY: the descriptors are new.
    let [reader, writer] = fds.map(|fd| File::from(unsafe { OwnedFd::from_raw_fd(fd) }));
    (reader, writer)
}

async fn raddle_pipes(log: Log) {
    let (mut sender, mut receiver) = pipe::pipe().unwrap();
    let mut buf = [0; 8];
    settle().await;
    log.result("nothing", &receiver.try_read(&mut buf));
    log.result("write", &sender.write(b"abc").await);
    log.result("read", &receiver.read(&mut buf).await);
    let reader = raddle::spawn(async move {
        let mut text = String::new();
        receiver.read_to_string(&mut text).await.map(|_| text)
    });
    settle().await;
    sender.write_all(b"later").await.unwrap();
    drop(sender);
    log.result("text", &reader.await.unwrap());
    let (mut sender, receiver) = pipe::pipe().unwrap();
    drop(receiver);
    settle().await;
    log.result("no reader", &sender.write(b"x").await);
}

async fn raddle_pipe_full(log: Log) {
    let (mut sender, mut receiver) = pipe::pipe().unwrap();
    let mut sent = 0;
    settle().await;
    while let Ok(bytes) = sender.try_write(&[7; 4096]) {
        sent += bytes;
    }
    log.line("holds", sent);
    let writer = raddle::spawn(async move {
        sender.write_all(&vec![7; 200_000]).await.unwrap();
    });
    let mut all = Vec::new();
    log.result("read", &receiver.read_to_end(&mut all).await);
    writer.await.unwrap();
}

fn ends(log: Log) {
    let (mut reader, mut writer) = pair(libc::O_NONBLOCK);
    let mut buf = [0; 8];
    log.result("nothing", &reader.read(&mut buf));
    log.result("write", &writer.write(b"abc"));
    log.result("write", &writer.write(b"def"));
    log.result("read", &reader.read(&mut buf[..4]));
    log.result("read", &reader.read(&mut buf));
    writer.write_all(b"last").unwrap();
    drop(writer);
    log.result("last", &reader.read(&mut buf));
    log.result("end", &reader.read(&mut buf));
    let (reader, mut writer) = pair(0);
    drop(reader);
    log.result("no reader", &writer.write(b"x"));
}

fn blocking_read(log: Log) {
    let (mut reader, mut writer) = pair(0);
    let thread = std::thread::spawn(move || {
        let mut text = String::new();
        reader.read_to_string(&mut text).map(|_| text)
    });
    settle_blocking();
    writer.write_all(b"one ").unwrap();
    let mut second = writer.try_clone().unwrap();
    drop(writer);
    settle_blocking();
    second.write_all(b"two").unwrap();
    drop(second);
    log.result("text", &thread.join().unwrap());
}

fn blocking_write(log: Log) {
    let (mut reader, mut writer) = pair(0);
    let thread = std::thread::spawn(move || writer.write_all(&vec![7; 300_000]));
    settle_blocking();
    log.line("waits", !thread.is_finished());
    let mut all = Vec::new();
    log.result("read", &reader.read_to_end(&mut all));
    log.result("written", &thread.join().unwrap());
    let (reader, mut writer) = pair(0);
    let thread = std::thread::spawn(move || writer.write_all(&vec![7; 300_000]));
    settle_blocking();
    drop(reader);
    log.result("no reader", &thread.join().unwrap());
}

fn std_pipes(log: Log) {
    let mut fds = [0; 2];
    // SAFETY: there is room for two numbers.
    check(unsafe { libc::pipe(fds.as_mut_ptr()) }).unwrap();
    // SAFETY: the descriptors are new.
    let [mut reader, mut writer] = fds.map(|fd| File::from(unsafe { OwnedFd::from_raw_fd(fd) }));
    writer.write_all(b"abc").unwrap();
    log.result("read", &reader.read(&mut [0; 8]));
    let flags = |fd: &File| {
        // SAFETY: the descriptor is open.
        check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) })
    };
    log.result("flags", &flags(&reader));
    log.result("flags", &flags(&writer));
    log.result("metadata", &reader.metadata().map(|data| data.len()));
}

fn wrong_ends(log: Log) {
    let (mut reader, mut writer) = pair(libc::O_NONBLOCK);
    log.result("write to the reader", &reader.write(b"x"));
    log.result("read from the writer", &writer.read(&mut [0; 4]));
    log.result("nothing", &writer.write(&[]));
    log.result("nothing", &reader.read(&mut []));
    let seek = io::Seek::seek(&mut reader, io::SeekFrom::Current(0));
    log.result("seek", &seek);
    // SAFETY: the descriptor is open.
    log.result(
        "listen",
        &check(unsafe { libc::listen(reader.as_raw_fd(), 1) }),
    );
    // SAFETY: there are so many bytes.
    let sent = unsafe { libc::send(writer.as_raw_fd(), b"x".as_ptr().cast(), 1, 0) };
    log.result("send", &check(sent as i64));
}

fn readiness(log: Log) {
    let (mut reader, mut writer) = pair(libc::O_NONBLOCK);
    log.poll("reader", &reader);
    log.poll("writer", &writer);
    writer.write_all(b"abc").unwrap();
    settle_blocking();
    log.poll("reader with data", &reader);
    let mut unread = 0;
    // SAFETY: the call writes one number.
    let result = unsafe { libc::ioctl(reader.as_raw_fd(), libc::FIONREAD, &raw mut unread) };
    log.result("unread", &check(result).map(|_| unread));
    while writer.write(&[7; 4096]).is_ok() {}
    log.poll("writer when full", &writer);
    drop(writer);
    settle_blocking();
    log.poll("reader at the end", &reader);
    let mut all = Vec::new();
    log.result("read", &reader.read_to_end(&mut all).map(|_| ()));
    log.poll("reader after the end", &reader);
    let (reader, writer) = pair(libc::O_NONBLOCK);
    drop(reader);
    settle_blocking();
    log.poll("writer without a reader", &writer);
}
