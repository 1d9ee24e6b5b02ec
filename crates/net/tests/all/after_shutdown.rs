//! Operations on a socket after its reactor has shut down.

use std::io::{ErrorKind, Write};

use raddle_net::{UnixDatagram, UnixStream};
use raddle_reactor::{Interest, is_shut_down};
use raddle_testing::block_on;

use crate::common::Driver;

/// As with Tokio, an operation that does not wait is still tried.
#[test]
fn a_ready_source_can_be_tried_after_shutdown() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    let (near, mut far) = std::os::unix::net::UnixStream::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    let near = UnixStream::from_std(near).unwrap();
    let (idle, _other) = UnixDatagram::pair().unwrap();
    far.write_all(b"abcd").unwrap();
    block_on(near.readable()).unwrap();
    block_on(near.writable()).unwrap();
    drop(driver);

    let mut buffer = [0; 2];
    assert_eq!(near.try_read(&mut buffer).unwrap(), 2);
    assert_eq!(near.try_write(b"x").unwrap(), 1);
    assert_eq!(near.try_io(Interest::READABLE, || Ok(7)).unwrap(), 7);
    assert_eq!(near.try_read(&mut buffer).unwrap(), 2);
    // No data is left. The first read returns `WouldBlock`, the next one that the reactor has shut
    // down.
    let error = near.try_read(&mut buffer).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    assert!(is_shut_down(&near.try_read(&mut buffer).unwrap_err()));
    assert!(is_shut_down(&idle.try_recv(&mut buffer).unwrap_err()));
    // Operations that may wait are refused, even if they would not wait.
    assert!(is_shut_down(&block_on(near.writable()).unwrap_err()));
}
