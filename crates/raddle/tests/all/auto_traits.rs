//! Which types are `Send`, `Sync`, `Unpin` and unwind safe.

use std::cell::Cell;
use std::future::Ready;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use raddle::fs::{File, OpenOptions, ReadDir};
use raddle::io::{BufReader, BufWriter, DuplexStream, ReadBuf, ReadHalf, Stdin, Stdout, WriteHalf};
use raddle::runtime::{
    Builder, EnterGuard, Handle, LocalOptions, LocalRuntime, Runtime, RuntimeMetrics,
};
use raddle::task::futures::TaskLocalFuture;
use raddle::task::{
    AbortHandle, AccessError, JoinError, JoinHandle, JoinSet, LocalEnterGuard, LocalKey, LocalSet,
};
use raddle::time::{Instant, Interval, Sleep, Timeout};
use static_assertions::{assert_impl_all, assert_not_impl_any};

assert_impl_all!(Runtime: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
assert_impl_all!(Handle: Send, Sync, Unpin, Clone, UnwindSafe, RefUnwindSafe);
assert_impl_all!(Builder: Send, Sync, Unpin);
assert_not_impl_any!(EnterGuard<'static>: Send);
assert_not_impl_any!(LocalRuntime: Send, Sync);
assert_not_impl_any!(LocalOptions: Send, Sync);

assert_impl_all!(AbortHandle: Send, Sync, Unpin, Clone);
assert_impl_all!(JoinError: Send, Sync, Unpin);
assert_impl_all!(JoinHandle<Cell<u8>>: Send, Sync, Unpin);
assert_not_impl_any!(JoinHandle<Rc<u8>>: Send, Sync);
assert_impl_all!(JoinSet<Cell<u8>>: Send, Sync, Unpin);
assert_not_impl_any!(JoinSet<Rc<u8>>: Send, Sync);

assert_impl_all!(LocalSet: Unpin);
assert_not_impl_any!(LocalSet: Send, Sync);
assert_not_impl_any!(LocalEnterGuard: Send, Sync);
assert_impl_all!(LocalKey<Rc<u8>>: Send, Sync, Unpin);
assert_impl_all!(AccessError: Send, Sync, Unpin, std::error::Error);
assert_impl_all!(TaskLocalFuture<Cell<u8>, Cell<u8>>: Send);
assert_not_impl_any!(TaskLocalFuture<Rc<u8>, u8>: Send);
assert_not_impl_any!(TaskLocalFuture<u8, Rc<u8>>: Send);

assert_impl_all!(RuntimeMetrics: Send, Sync, Unpin, Clone);

// A timer is linked into a list by its address.
assert_impl_all!(Sleep: Send, Sync);
assert_not_impl_any!(Sleep: Unpin);
assert_impl_all!(Timeout<Ready<Cell<u8>>>: Send);
assert_not_impl_any!(Timeout<Ready<Rc<u8>>>: Send, Sync);
assert_not_impl_any!(Timeout<Ready<u8>>: Unpin);
assert_impl_all!(Interval: Send, Sync, Unpin);
assert_impl_all!(Instant: Send, Sync, Unpin, Copy);

// A stream is `Send` and `Sync` if its parts are.
assert_impl_all!(DuplexStream: Send, Sync, Unpin);
assert_impl_all!(ReadHalf<DuplexStream>: Send, Sync, Unpin);
assert_impl_all!(WriteHalf<DuplexStream>: Send, Sync, Unpin);
assert_impl_all!(BufReader<DuplexStream>: Send, Sync, Unpin);
assert_impl_all!(BufWriter<DuplexStream>: Send, Sync, Unpin);
assert_not_impl_any!(BufReader<Rc<u8>>: Send, Sync);
assert_impl_all!(ReadBuf<'static>: Send, Sync, Unpin);
assert_impl_all!(Stdin: Send, Sync, Unpin);
assert_impl_all!(Stdout: Send, Sync, Unpin);
assert_impl_all!(File: Send, Sync, Unpin);
assert_impl_all!(OpenOptions: Send, Sync, Unpin, Clone);
assert_impl_all!(ReadDir: Send, Sync, Unpin);

#[cfg(unix)]
mod unix {
    use raddle::process::{Child, ChildStdin, ChildStdout, Command};
    use raddle::signal::unix::{Signal, SignalKind};
    use static_assertions::assert_impl_all;

    assert_impl_all!(Command: Send, Sync, Unpin);
    assert_impl_all!(Child: Send, Sync, Unpin);
    assert_impl_all!(ChildStdin: Send, Sync, Unpin);
    assert_impl_all!(ChildStdout: Send, Sync, Unpin);
    assert_impl_all!(Signal: Send, Sync, Unpin);
    assert_impl_all!(SignalKind: Send, Sync, Copy);
}

/// RUSTSEC-2020-0060, RUSTSEC-2020-0062, RUSTSEC-2025-0023: the compiler checks the assertions
/// above.
#[test]
fn auto_traits_are_as_asserted_above() {}
