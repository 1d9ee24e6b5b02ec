//! What changes the contents of files, and syncs them.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd as _;
use std::os::unix::fs::MetadataExt as _;

use libc::{c_char, c_int, c_void, iovec, off64_t, size_t, ssize_t};

use super::{converted, open_at};
use crate::context;
use crate::kernel::threads;
use crate::kernel::{Errno, Kernel, Result};
use crate::seam::buffers::Buffers;
use crate::seam::{arg, returned, status, system4};

/// What a write is about to change.
pub(in crate::seam) enum Part {
    /// So many bytes at the position of the descriptor, or at the end if it appends.
    Here(usize),
    At(u64, usize),
    /// All from here on.
    From(u64),
}

/// Prepares a change of the file of a descriptor. `None`: it is on no disk of a host.
pub(in crate::seam) fn before_change(fd: c_int, part: Part) -> Option<Result<()>> {
    on_disk(fd, |kernel, host| prepare(kernel, host, fd, &part))
}

/// Does something with a file on the disk of a host, after the time that the disk takes. `None`:
/// the descriptor is of no such file.
fn on_disk<R>(fd: c_int, f: impl FnOnce(&mut Kernel, usize) -> Result<R>) -> Option<Result<R>> {
    context::call(|engine, caller| {
        let mut kernel = engine.kernel.lock();
        let owner = *kernel.on_disk.get(&fd)?;
        let latency = kernel.hosts[owner.host].disk.latency;
        if !latency.is_zero() {
            drop(kernel);
            engine.block(caller, threads::Place::Sleep, Some(latency), |_| true);
            kernel = engine.kernel.lock();
        }
        // The host may have crashed, and the descriptor may have been closed.
        if kernel.on_disk.get(&fd) != Some(&owner) || !kernel.is_alive(owner) {
            return Some(Err(Errno(libc::EIO)));
        }
        Some(f(&mut kernel, owner.host))
    })
    .flatten()
}

fn prepare(kernel: &mut Kernel, host: usize, fd: c_int, part: &Part) -> Result<()> {
    let disk = &mut kernel.hosts[host].disk;
    disk.check()?;
    // SAFETY: the descriptor is open, as the caller needs it, and is not closed here.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
    let length = converted(file.metadata())?.len();
    let (from, to) = match *part {
        Part::At(at, bytes) => (at, at.saturating_add(bytes as u64)),
        Part::From(at) => (at.min(length), length.max(at)),
        Part::Here(bytes) => {
            // SAFETY: the arguments are numbers.
            let flags = unsafe { system4(libc::SYS_fcntl, arg(fd), libc::F_GETFL as usize, 0, 0) };
            let at = match flags as c_int & libc::O_APPEND {
                0 => converted(std::io::Seek::stream_position(&mut &*file))?,
                _ => length,
            };
            (at, at.saturating_add(bytes as u64))
        }
    };
    converted(disk.will_change(&file, from, to))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite64(
    fd: c_int,
    buf: *const c_void,
    length: size_t,
    offset: off64_t,
) -> ssize_t {
    if let Some(Err(error)) = before_change(fd, Part::At(offset as u64, length)) {
        return returned::<i64>(Err(error)) as ssize_t;
    }
    // SAFETY: the arguments are the caller's.
    unsafe {
        system4(
            libc::SYS_pwrite64,
            arg(fd),
            buf.expose_provenance(),
            length,
            offset as usize,
        ) as ssize_t
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite(
    fd: c_int,
    buf: *const c_void,
    length: size_t,
    offset: off64_t,
) -> ssize_t {
    // SAFETY: the arguments are the caller's.
    unsafe { pwrite64(fd, buf, length, offset) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwritev64(
    fd: c_int,
    pieces: *const iovec,
    number: c_int,
    offset: off64_t,
) -> ssize_t {
    // SAFETY: as the caller of the C function promises.
    let length = unsafe { Buffers::several(pieces, number as usize) }.len();
    if let Some(Err(error)) = before_change(fd, Part::At(offset as u64, length)) {
        return returned::<i64>(Err(error)) as ssize_t;
    }
    let (fd, number) = (arg(fd), arg(number));
    // SAFETY: the arguments are the caller's.
    unsafe {
        system4(
            libc::SYS_pwritev,
            fd,
            pieces.expose_provenance(),
            number,
            offset as usize,
        ) as ssize_t
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwritev(
    fd: c_int,
    pieces: *const iovec,
    number: c_int,
    offset: off64_t,
) -> ssize_t {
    // SAFETY: the arguments are the caller's.
    unsafe { pwritev64(fd, pieces, number, offset) }
}

#[unsafe(no_mangle)]
extern "C" fn ftruncate64(fd: c_int, length: off64_t) -> c_int {
    if let Some(Err(error)) = before_change(fd, Part::From(length as u64)) {
        return status(Err(error));
    }
    // SAFETY: the arguments are numbers.
    unsafe { system4(libc::SYS_ftruncate, arg(fd), length as usize, 0, 0) as c_int }
}

#[unsafe(no_mangle)]
extern "C" fn ftruncate(fd: c_int, length: off64_t) -> c_int {
    ftruncate64(fd, length)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn truncate64(path: *const c_char, length: off64_t) -> c_int {
    // SAFETY: the arguments are the caller's.
    let fd = unsafe { open_at(libc::AT_FDCWD, path, libc::O_WRONLY | libc::O_CLOEXEC, 0) };
    if fd < 0 {
        return fd;
    }
    let result = ftruncate64(fd, length);
    // SAFETY: the descriptor is this function's.
    unsafe { libc::close(fd) };
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn truncate(path: *const c_char, length: off64_t) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { truncate64(path, length) }
}

#[unsafe(no_mangle)]
extern "C" fn fsync(fd: c_int) -> c_int {
    sync(fd, libc::SYS_fsync)
}

#[unsafe(no_mangle)]
extern "C" fn fdatasync(fd: c_int) -> c_int {
    sync(fd, libc::SYS_fdatasync)
}

/// Syncs a file or directory. One of a host is not synced on the machine, which takes long.
fn sync(fd: c_int, number: libc::c_long) -> c_int {
    let synced = on_disk(fd, |kernel, host| {
        let disk = &mut kernel.hosts[host].disk;
        // A full disk has room for what it has taken.
        if disk.broken > 0 {
            return Err(Errno(libc::EIO));
        }
        // SAFETY: the descriptor is open, as the caller needs it, and is not closed here.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
        disk.synced(converted(file.metadata())?.ino());
        Ok(())
    });
    match synced {
        Some(result) => status(result),
        // SAFETY: the argument is a number.
        None => unsafe { system4(number, arg(fd), 0, 0, 0) as c_int },
    }
}
