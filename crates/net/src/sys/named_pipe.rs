//! System calls for named pipes of Windows.

use std::ffi::{OsStr, c_void};
use std::io::{self, Read};
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{
    AsRawHandle, BorrowedHandle, FromRawHandle, IntoRawHandle, OwnedHandle, RawHandle,
};
use std::ptr::null_mut;

use mio::windows::NamedPipe;
use raddle_io::ReadBuf;
use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{CreateFileW, FILE_FLAG_OVERLAPPED, OPEN_EXISTING};
use windows_sys::Win32::System::Pipes::{
    CreateNamedPipeW, GetNamedPipeInfo, PIPE_READMODE_MESSAGE, SetNamedPipeHandleState,
};

use super::receive::{Receive, Received};

/// The arguments of `CreateNamedPipe`, except the name and the security attributes.
pub(crate) struct Create {
    pub(crate) open_mode: u32,
    pub(crate) pipe_mode: u32,
    pub(crate) max_instances: u32,
    pub(crate) out_buffer_size: u32,
    pub(crate) in_buffer_size: u32,
}

/// The arguments of `CreateFile`, except the name and the security attributes.
pub(crate) struct Open {
    pub(crate) access: u32,
    pub(crate) flags: u32,
    /// Whether reads end at the end of a message.
    pub(crate) by_message: bool,
}

/// The result of `GetNamedPipeInfo`.
pub(crate) struct Info {
    pub(crate) flags: u32,
    pub(crate) max_instances: u32,
    pub(crate) out_buffer_size: u32,
    pub(crate) in_buffer_size: u32,
}

/// Makes an instance of a pipe, for overlapped operations.
///
/// # Safety
///
/// `attributes` is null or points to a valid `SECURITY_ATTRIBUTES`.
pub(crate) unsafe fn create(
    name: &OsStr,
    create: &Create,
    attributes: *mut c_void,
) -> io::Result<NamedPipe> {
    let name = wide(name)?;
    // SAFETY: the name ends with a zero, and the attributes are valid as the caller promises.
    let handle = unsafe {
        CreateNamedPipeW(
            name.as_ptr(),
            create.open_mode | FILE_FLAG_OVERLAPPED,
            create.pipe_mode,
            create.max_instances,
            create.out_buffer_size,
            create.in_buffer_size,
            // The system's default time for `WaitNamedPipe`.
            0,
            attributes.cast(),
        )
    };
    // SAFETY: the handle is new, and open for overlapped operations.
    unsafe { owned(handle).map(|handle| adopt(handle.into_raw_handle())) }
}

/// Opens the client's end of a pipe, for overlapped operations.
///
/// # Safety
///
/// `attributes` is null or points to a valid `SECURITY_ATTRIBUTES`.
pub(crate) unsafe fn open(
    name: &OsStr,
    open: &Open,
    attributes: *mut c_void,
) -> io::Result<NamedPipe> {
    let name = wide(name)?;
    // SAFETY: the name ends with a zero, and the attributes are valid as the caller promises.
    let handle = unsafe {
        CreateFileW(
            name.as_ptr(),
            open.access,
            0,
            attributes.cast(),
            OPEN_EXISTING,
            open.flags | FILE_FLAG_OVERLAPPED,
            null_mut(),
        )
    };
    // SAFETY: the handle is new.
    let handle = unsafe { owned(handle) }?;
    if open.by_message {
        let mode = PIPE_READMODE_MESSAGE;
        // SAFETY: the handle is open, and the mode is read during the call only.
        let done = unsafe {
            SetNamedPipeHandleState(
                handle.as_raw_handle(),
                &raw const mode,
                null_mut(),
                null_mut(),
            )
        };
        if done == 0 {
            return Err(io::Error::last_os_error());
        }
    }
    // SAFETY: the handle is open for overlapped operations, and given up here.
    Ok(unsafe { adopt(handle.into_raw_handle()) })
}

/// Takes over the handle of a pipe.
///
/// # Safety
///
/// It is the handle of a pipe, open for overlapped operations, and has no other owner.
pub(crate) unsafe fn adopt(handle: RawHandle) -> NamedPipe {
    // SAFETY: as the caller promises.
    unsafe { NamedPipe::from_raw_handle(handle) }
}

/// Returns the properties of a pipe.
pub(crate) fn info(pipe: &NamedPipe) -> io::Result<Info> {
    let mut info = Info {
        flags: 0,
        max_instances: 0,
        out_buffer_size: 0,
        in_buffer_size: 0,
    };
    // SAFETY: the pipe's handle is open, and the pointers are to integers that outlive the call.
    let done = unsafe {
        GetNamedPipeInfo(
            pipe.as_raw_handle(),
            &raw mut info.flags,
            &raw mut info.out_buffer_size,
            &raw mut info.in_buffer_size,
            &raw mut info.max_instances,
        )
    };
    match done {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(info),
    }
}

/// Returns the handle of a pipe, for as long as the pipe is borrowed.
pub(crate) fn handle_of(pipe: &NamedPipe) -> BorrowedHandle<'_> {
    // SAFETY: the pipe owns the handle, and keeps it open at least as long as it is borrowed.
    unsafe { BorrowedHandle::borrow_raw(pipe.as_raw_handle()) }
}

impl Receive for NamedPipe {
    /// mio copies the bytes from a buffer of its own.
    fn receive(&self, buf: &mut ReadBuf<'_>) -> io::Result<Received> {
        let bytes = (&mut &*self).read(buf.initialize_unfilled())?;
        buf.advance(bytes);
        Ok(Received {
            bytes,
            short_read_drains: false,
        })
    }
}

/// Returns the handle that a call has returned, or its error.
///
/// # Safety
///
/// The handle has no other owner, and no call has failed since.
unsafe fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as the caller promises.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Returns the name in the system's encoding, with a zero at the end.
fn wide(name: &OsStr) -> io::Result<Vec<u16>> {
    let mut wide: Vec<u16> = name.encode_wide().collect();
    if wide.contains(&0) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the name of the pipe contains a zero character; remove it",
        ));
    }
    wide.push(0);
    Ok(wide)
}
