//! `AsyncFd`: waits, clearing, and return of the descriptor.

use std::fs::File;
use std::future::poll_fn;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::pin::pin;

use raddle_net::async_fd::AsyncFd;
use raddle_reactor::{Interest, Ready, is_shut_down};
use raddle_testing::{block_on, poll};

use crate::common::{Driver, all, run};

fn pair() -> (AsyncFd<UnixStream>, UnixStream) {
    let (near, far) = UnixStream::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    (AsyncFd::new(near).unwrap(), far)
}

async fn read(stream: &AsyncFd<UnixStream>) -> io::Result<usize> {
    loop {
        let mut guard = stream.readable().await?;
        if let Ok(result) = guard.try_io(|stream| stream.get_ref().read(&mut [0; 8])) {
            return result;
        }
    }
}

#[test]
fn readiness_stays_until_it_is_cleared() {
    run(async {
        let (near, mut far) = pair();
        assert!(poll(pin!(near.readable())).is_pending());
        far.write_all(b"abc").unwrap();
        for _ in 0..3 {
            let mut guard = near.readable().await.unwrap();
            assert!(guard.ready().is_readable());
            guard.retain_ready();
        }
        assert_eq!(near.get_ref().read(&mut [0; 8]).unwrap(), 3);
        let mut guard = near.readable().await.unwrap();
        let tried = guard.try_io(|near| near.get_ref().read(&mut [0; 8]));
        let error = tried.unwrap_err();
        assert!(error.to_string().contains("would block"), "{error}");
        assert_eq!(guard.ready(), Ready::EMPTY);
        assert!(poll(pin!(near.readable())).is_pending());
        far.write_all(b"de").unwrap();
        assert_eq!(read(&near).await.unwrap(), 2);
        drop(far);
        assert_eq!(read(&near).await.unwrap(), 0);
    });
}

/// 6133: a guard does not clear readiness that is newer than the guard.
#[test]
fn an_old_guard_does_not_clear_newer_readiness() {
    run(async {
        let (near, mut far) = pair();
        far.write_all(b"a").unwrap();
        let mut old = near.readable().await.unwrap();
        old.clear_ready();
        let mut old = {
            far.write_all(b"b").unwrap();
            near.readable().await.unwrap()
        };
        // Waits until the next event has been dispatched; the event of the second pair shows that.
        let (other, mut other_far) = pair();
        far.write_all(b"c").unwrap();
        other_far.write_all(b"x").unwrap();
        drop(other.readable().await.unwrap());
        old.clear_ready();
        drop(near.readable().await.unwrap());
        assert_eq!(read(&near).await.unwrap(), 3);
    });
}

#[test]
fn each_direction_is_cleared_separately() {
    run(async {
        let (near, mut far) = pair();
        far.write_all(b"a").unwrap();
        // The events of both directions may arrive at once or one after the other.
        drop(near.readable().await.unwrap());
        drop(near.writable().await.unwrap());
        let both = Interest::READABLE | Interest::WRITABLE;
        let mut guard = near.ready(both).await.unwrap();
        assert!(guard.ready().is_readable() && guard.ready().is_writable());
        guard.clear_ready_matching(Ready::READABLE);
        assert_eq!(guard.ready(), Ready::WRITABLE);
        assert!(poll(pin!(near.readable())).is_pending());
        drop(near.writable().await.unwrap());
        guard.clear_ready_matching(Ready::WRITABLE);
        assert!(poll(pin!(near.writable())).is_pending());
        assert_eq!(guard.get_inner().as_raw_fd(), near.as_raw_fd());
    });
}

#[test]
fn a_closed_direction_stays_closed() {
    run(async {
        let (near, far) = pair();
        drop(far);
        while !near.readable().await.unwrap().ready().is_read_closed() {}
        for _ in 0..2 {
            // As an operation in the other direction would do.
            let both = Interest::READABLE | Interest::WRITABLE;
            let mut guard = near.ready(both).await.unwrap();
            guard.clear_ready_matching(Ready::READABLE | Ready::WRITABLE);
            assert!(near.readable().await.unwrap().ready().is_read_closed());
        }
    });
}

/// Bug: own, two guards that were cleared for the sake of something else erased the end.
#[test]
fn a_closed_direction_survives_guards_that_are_cleared() {
    let would_block = || Err::<(), _>(ErrorKind::WouldBlock.into());
    run(async {
        let (mut near, far) = pair();
        drop(far);
        while !near.readable().await.unwrap().ready().is_read_closed() {}
        while !near.writable().await.unwrap().ready().is_write_closed() {}
        for _ in 0..3 {
            near.readable().await.unwrap().clear_ready();
            near.writable().await.unwrap().clear_ready();
            near.readable_mut().await.unwrap().clear_ready();
            near.writable_mut().await.unwrap().clear_ready();
            let closed = Ready::READ_CLOSED | Ready::WRITE_CLOSED;
            for flags in [Ready::READ_CLOSED, Ready::WRITE_CLOSED, closed, Ready::ALL] {
                near.readable().await.unwrap().clear_ready_matching(flags);
                near.writable().await.unwrap().clear_ready_matching(flags);
                let mut guard = near.readable_mut().await.unwrap();
                guard.clear_ready_matching(flags);
            }
            assert!(
                near.readable()
                    .await
                    .unwrap()
                    .try_io(|_| would_block())
                    .is_err()
            );
            assert!(
                near.writable()
                    .await
                    .unwrap()
                    .try_io(|_| would_block())
                    .is_err()
            );
            for interest in [Interest::READABLE, Interest::WRITABLE] {
                assert!(near.try_io(interest, |_| would_block()).is_err());
                assert!(near.try_io_mut(interest, |_| would_block()).is_err());
            }
            drop(poll_fn(|cx| near.poll_read_ready(cx)).await.unwrap());
            drop(poll_fn(|cx| near.poll_write_ready(cx)).await.unwrap());
        }
        for interest in [Interest::READABLE, Interest::WRITABLE] {
            let mut calls = 0;
            let io = near.async_io(interest, |_| {
                calls += 1;
                if calls < 3 { would_block() } else { Ok(()) }
            });
            io.await.unwrap();
            assert_eq!(calls, 3);
            let mut calls = 0;
            let io = near.async_io_mut(interest, |_| {
                calls += 1;
                if calls < 3 { would_block() } else { Ok(()) }
            });
            io.await.unwrap();
        }
        assert_eq!(read(&near).await.unwrap(), 0);
    });
}

/// Bug: own, as above, for the sender of a pipe whose reader has gone, which is an error.
#[test]
fn a_pipe_without_reader_survives_guards_that_are_cleared() {
    run(async {
        let (reader, writer) = io::pipe().unwrap();
        let flags = libc::O_NONBLOCK;
        // SAFETY: sets the flags of an open descriptor.
        let set = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, flags) };
        assert_eq!(set, 0);
        let writer = AsyncFd::with_interest(writer, Interest::WRITABLE).unwrap();
        drop(reader);
        while !writer.writable().await.unwrap().ready().is_write_closed() {}
        for _ in 0..3 {
            writer.writable().await.unwrap().clear_ready();
            let blocked = writer.try_io(Interest::WRITABLE, |_| {
                Err::<(), _>(ErrorKind::WouldBlock.into())
            });
            assert!(blocked.is_err());
        }
        let write = writer.async_io(Interest::WRITABLE, |mut writer| writer.write(b"x"));
        assert_eq!(write.await.unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_mutable_guard_gives_access_to_the_inner_value() {
    run(async {
        let (mut near, mut far) = pair();
        far.write_all(b"abcdef").unwrap();
        let mut guard = near.readable_mut().await.unwrap();
        let mut buffer = [0; 2];
        let read = guard.try_io(|near| near.get_mut().read(&mut buffer));
        assert_eq!(read.unwrap().unwrap(), 2);
        assert_eq!(guard.get_inner_mut().read(&mut buffer).unwrap(), 2);
        assert_eq!(guard.get_mut().get_mut().read(&mut buffer).unwrap(), 2);
        assert!(guard.get_ref().get_ref().peer_addr().is_ok());
        assert!(guard.get_inner().peer_addr().is_ok());
        assert!(format!("{guard:?}").contains("ready"));
        assert!(
            guard
                .try_io(|near| near.get_mut().read(&mut buffer))
                .is_err()
        );
        let mut guard = near.writable_mut().await.unwrap();
        guard.clear_ready_matching(Ready::READABLE);
        guard.retain_ready();
        assert!(guard.ready().is_writable());
        guard.clear_ready();
        assert_eq!(guard.ready(), Ready::EMPTY);
        far.write_all(b"g").unwrap();
        let guard = poll_fn(|cx| near.poll_read_ready_mut(cx).map_ok(|guard| guard.ready()));
        assert!(guard.await.unwrap().is_readable());
    });
}

#[test]
fn operations_without_a_guard_wait_for_readiness() {
    run(async {
        let (mut near, mut far) = pair();
        let blocked = near.try_io(Interest::READABLE, |mut near| near.read(&mut [0; 8]));
        assert_eq!(blocked.unwrap_err().kind(), ErrorKind::WouldBlock);
        {
            let io = near.async_io(Interest::READABLE, |mut near| near.read(&mut [0; 8]));
            let mut io = pin!(io);
            assert!(poll(io.as_mut()).is_pending());
            far.write_all(b"abc").unwrap();
            assert_eq!(io.await.unwrap(), 3);
        }
        let io = near.async_io_mut(Interest::WRITABLE, |near| near.write(b"x"));
        assert_eq!(io.await.unwrap(), 1);
        let tried = near.try_io_mut(Interest::WRITABLE, |near| near.write(b"x"));
        assert_eq!(tried.unwrap(), 1);
        let ready = poll_fn(|cx| near.poll_write_ready(cx)).await.unwrap();
        assert!(ready.ready().is_writable());
    });
}

#[test]
fn many_tasks_wait_for_one_descriptor() {
    run(async {
        let (near, mut far) = pair();
        let waiting = all((0..10).map(|_| near.readable()));
        let mut waiting = pin!(waiting);
        assert!(poll(waiting.as_mut()).is_pending());
        far.write_all(b"x").unwrap();
        assert!(waiting.await.into_iter().all(|guard| guard.is_ok()));
    });
}

/// As with Tokio, the inner type needs `AsRawFd` only.
#[test]
fn an_async_fd_returns_the_descriptor_of_its_inner_value() {
    struct Raw(std::os::unix::net::UnixStream);

    impl AsRawFd for Raw {
        fn as_raw_fd(&self) -> std::os::fd::RawFd {
            self.0.as_raw_fd()
        }
    }

    let driver = Driver::start();
    let _current = driver.handle.enter();
    let (near, _far) = std::os::unix::net::UnixStream::pair().unwrap();
    let near = AsyncFd::new(Raw(near)).unwrap();
    assert_eq!(near.as_fd().as_raw_fd(), near.as_raw_fd());
}

/// Bug: own, `as_fd` made a reference to a descriptor of which safe code decides whether it is
/// open.
#[test]
fn system_calls_on_a_descriptor_that_was_closed_return_an_error() {
    use std::cell::Cell;
    use std::os::fd::RawFd;

    #[derive(Debug)]
    struct Claimed(Cell<RawFd>);

    impl AsRawFd for Claimed {
        fn as_raw_fd(&self) -> RawFd {
            self.0.get()
        }
    }

    fn duplicate(fd: &impl AsFd) -> io::Result<std::os::fd::OwnedFd> {
        fd.as_fd().try_clone_to_owned()
    }

    run(async {
        let (near, _far) = UnixStream::pair().unwrap();
        let claimed = Claimed(Cell::new(near.as_raw_fd()));
        let claimed = AsyncFd::new(claimed).unwrap();
        assert_eq!(claimed.as_fd().as_raw_fd(), near.as_raw_fd());
        duplicate(&claimed).unwrap();
        // The first has no descriptor, the others are no open ones.
        for closed in [-1, RawFd::MAX, -2, RawFd::MIN] {
            claimed.get_ref().0.set(closed);
            let error = duplicate(&claimed).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EBADF), "{closed}");
            let error = AsyncFd::new(Claimed(Cell::new(closed))).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EBADF), "{closed}");
        }
    });
}

#[test]
fn into_inner_and_drop_deregister_the_descriptor() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    let (near, mut far) = pair();
    assert_eq!(driver.handle.registered_count(), 1);
    assert_eq!(near.as_fd().as_raw_fd(), near.as_raw_fd());
    let near = near.into_inner();
    assert_eq!(driver.handle.registered_count(), 0);
    // Registers the descriptor again, for one direction.
    let near = AsyncFd::with_interest(near, Interest::READABLE).unwrap();
    far.write_all(b"x").unwrap();
    assert_eq!(block_on(read(&near)).unwrap(), 1);
    assert!(poll(pin!(near.writable())).is_pending());
    // A duplicate that is still open does not keep the descriptor registered.
    let duplicate = near.get_ref().try_clone().unwrap();
    drop(near);
    assert_eq!(driver.handle.registered_count(), 0);
    // SAFETY: the descriptor is open as long as the stream is.
    let again = unsafe { AsyncFd::register(duplicate) }.unwrap();
    drop(again);
}

#[test]
fn a_descriptor_that_cannot_be_registered_is_returned() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    let file = File::open(std::env::current_exe().unwrap()).unwrap();
    let number = file.as_raw_fd();
    let error = AsyncFd::try_new(file).unwrap_err();
    assert!(std::error::Error::source(&error).is_some());
    let text = error.to_string();
    assert!(text.ends_with("on a thread for blocking work"), "{text}");
    let (file, cause) = error.into_parts();
    assert_eq!(file.as_raw_fd(), number);
    assert_eq!(cause.raw_os_error(), Some(libc::EPERM));
    assert!(AsyncFd::new(file).is_err());
    assert_eq!(driver.handle.registered_count(), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn a_descriptor_that_is_registered_twice_is_refused_with_advice() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    let (near, _far) = pair();
    let error = AsyncFd::try_new(near.as_raw_fd()).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("share that AsyncFd or register a duplicate"),
        "{text}"
    );
    let cause = io::Error::from(error);
    assert_eq!(cause.kind(), ErrorKind::AlreadyExists);
    assert_eq!(cause.raw_os_error(), Some(libc::EEXIST));
}

#[test]
fn shutdown_of_the_runtime_ends_waits() {
    let driver = Driver::start();
    let handle = driver.handle.clone();
    let _current = handle.enter();
    let (near, _far) = pair();
    let mut waiting = pin!(near.readable());
    assert!(poll(waiting.as_mut()).is_pending());
    drop(driver);
    assert!(is_shut_down(&block_on(waiting).map(drop).unwrap_err()));
    let late = AsyncFd::new(UnixStream::pair().unwrap().0).unwrap_err();
    assert!(is_shut_down(&late));
}
