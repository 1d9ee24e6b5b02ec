//! The type arguments of generic types.

use std::cell::Cell;
use std::marker::{PhantomData, PhantomPinned};
use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;
use std::sync::MutexGuard;

/// Has all checked traits, except that it is neither an error nor a future.
pub(crate) type All = u8;
/// `Send`, but not `Sync`.
pub(crate) type OnlySend = Cell<u8>;
/// Neither `Send` nor `Sync`.
pub(crate) type Neither = Rc<u8>;

/// `Sync`, but not `Send`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct OnlySync(PhantomData<MutexGuard<'static, ()>>);

/// `Send` and `Sync`, without any other trait.
pub(crate) struct Bare(PhantomData<&'static mut ()>, PhantomPinned);

/// Like [`Bare`], with `Clone`, which some methods need.
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
