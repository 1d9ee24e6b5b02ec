//! What stands for the parameters of generic types.

use std::cell::Cell;
use std::marker::{PhantomData, PhantomPinned};
use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;
use std::sync::MutexGuard;

/// Has all traits that are looked for, but that it is no error and no future.
pub(crate) type All = u8;
/// May be sent, and not be shared.
pub(crate) type OnlySend = Cell<u8>;
/// May be neither.
pub(crate) type Neither = Rc<u8>;

/// May be shared, and not be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct OnlySync(PhantomData<MutexGuard<'static, ()>>);

/// May be sent and shared, and has no other trait.
pub(crate) struct Bare(PhantomData<&'static mut ()>, PhantomPinned);

/// As [`Bare`], with `Clone`, which some methods ask for.
pub(crate) struct BareClone(PhantomData<&'static mut ()>, PhantomPinned);

impl Clone for BareClone {
    fn clone(&self) -> Self {
        Self(self.0, self.1)
    }
}

/// A descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fd<T>(PhantomData<T>);

impl<T> AsRawFd for Fd<T> {
    fn as_raw_fd(&self) -> RawFd {
        unreachable!("never made")
    }
}
