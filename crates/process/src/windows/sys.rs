//! System calls of Windows.

use std::io;
use std::os::windows::io::{
    AsHandle, AsRawHandle, BorrowedHandle, FromRawHandle, IntoRawHandle, OwnedHandle,
};
use std::process::Child;

use mio::windows::NamedPipe;
use windows_sys::Win32::Foundation::WAIT_FAILED;
use windows_sys::Win32::System::Threading::{INFINITE, WaitForSingleObject};

/// A process to wait for, independent of its `Child`.
pub(crate) struct Waitable(OwnedHandle);

impl Waitable {
    pub(crate) fn of(child: &Child) -> io::Result<Self> {
        child.as_handle().try_clone_to_owned().map(Self)
    }

    /// Blocks until the process has ended, or cannot be waited for.
    pub(crate) fn wait(self) {
        // SAFETY: this value owns the handle, so it is open.
        let result = unsafe { WaitForSingleObject(self.0.as_raw_handle(), INFINITE) };
        debug_assert_ne!(result, WAIT_FAILED, "{}", io::Error::last_os_error());
    }
}

/// This process's end of a child's pipe, which std opens for overlapped operations.
pub(crate) fn pipe_of(end: impl IntoRawHandle) -> NamedPipe {
    // SAFETY: the handle is open and has no other owner.
    unsafe { NamedPipe::from_raw_handle(end.into_raw_handle()) }
}

/// The handle of a pipe, for as long as the pipe is borrowed.
pub(crate) fn handle_of(pipe: &NamedPipe) -> BorrowedHandle<'_> {
    // SAFETY: the pipe owns the handle, and keeps it open at least as long as it is borrowed.
    unsafe { BorrowedHandle::borrow_raw(pipe.as_raw_handle()) }
}
