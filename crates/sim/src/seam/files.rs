//! Files, on the disk of the host. Functions with and without `64` in their names are the same:
//! lengths have 64 bits here.

mod contents;

use std::ffi::{CStr, CString, OsStr, c_char};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use libc::{c_int, c_void, mode_t, size_t, ssize_t};

use super::{arg, last_error, next, returned, set_errno, status, system, system4};
use crate::context;
use crate::kernel::disk::{Disk, Target, errno};
use crate::kernel::files::Kind;
use crate::kernel::{Errno, Result};

pub(super) use contents::{Part, before_change};

/// What a call does with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Read,
    /// It changes what is there, or makes it.
    Change {
        needs_contents: bool,
    },
}

/// The absolute path that a call of a host means.
///
/// # Safety
///
/// The pointer is null, or to a text that ends with a zero.
unsafe fn path_of(directory: c_int, path: *const c_char) -> Option<PathBuf> {
    if path.is_null() {
        return None;
    }
    // SAFETY: promised by the caller.
    let path = Path::new(OsStr::from_bytes(
        unsafe { CStr::from_ptr(path) }.to_bytes(),
    ));
    // An empty path means the descriptor itself.
    if path.as_os_str().is_empty() || path.is_absolute() {
        return path.is_absolute().then(|| path.to_owned());
    }
    let base = match directory {
        libc::AT_FDCWD => std::env::current_dir().ok()?,
        fd => std::fs::read_link(format!("/proc/self/fd/{fd}")).ok()?,
    };
    Some(base.join(path))
}

/// Calls `f` with the place that a path leads to, if the thread runs a host.
///
/// # Safety
///
/// As for [`path_of`].
unsafe fn at<R>(
    directory: c_int,
    path: *const c_char,
    usage: Use,
    f: impl FnOnce(&mut Disk, Target) -> Result<R>,
) -> Option<Result<R>> {
    context::call(|engine, caller| {
        // SAFETY: promised by the caller.
        let path = unsafe { path_of(directory, path) }?;
        let mut kernel = engine.kernel.lock();
        if !kernel.is_alive(caller) {
            return Some(Err(Errno(libc::EIO)));
        }
        let host = &mut kernel.hosts[caller.host];
        let place = match usage {
            Use::Read => host.disk.find(&path),
            Use::Change { needs_contents } => {
                let found = host
                    .disk
                    .check()
                    .map_err(|error| std::io::Error::from_raw_os_error(error.0))
                    .and_then(|()| host.disk.find_to_change(&host.name, &path, needs_contents));
                match found {
                    Ok(place) => place,
                    Err(error) => return Some(Err(errno(&error))),
                }
            }
        };
        Some(f(&mut host.disk, place))
    })
    .flatten()
}

fn c_path(path: &Path) -> Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno(libc::EINVAL))
}

/// Makes a system call with the path that `path` leads to in place of it.
///
/// # Safety
///
/// As for the system call; `path` is one of the arguments, which are otherwise the caller's.
unsafe fn call_with_path(
    directory: c_int,
    path: *const c_char,
    usage: Use,
    call: impl Fn(c_int, *const c_char) -> c_int,
) -> c_int {
    // SAFETY: promised by the caller.
    let place = unsafe { at(directory, path, usage, |_, place| c_path(place.path())) };
    match place {
        Some(Ok(path)) => call(libc::AT_FDCWD, path.as_ptr()),
        Some(Err(error)) => status(Err(error)),
        None => call(directory, path),
    }
}

fn converted<T>(result: std::io::Result<T>) -> Result<T> {
    result.map_err(|error| errno(&error))
}

/// # Safety
///
/// As for the C function.
unsafe fn open_at(directory: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    let open = |directory: c_int, path: *const c_char| {
        let (directory, flags) = (arg(directory), arg(flags));
        // SAFETY: promised by the caller.
        unsafe {
            system4(
                libc::SYS_openat,
                directory,
                path.expose_provenance(),
                flags,
                mode as usize,
            ) as c_int
        }
    };
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY;
    let makes = flags & libc::O_CREAT != 0 || flags & libc::O_TMPFILE == libc::O_TMPFILE;
    let cuts_off = flags & libc::O_TRUNC != 0;
    let usage = match writes || makes || cuts_off {
        true => Use::Change {
            needs_contents: !cuts_off,
        },
        false => Use::Read,
    };
    // SAFETY: promised by the caller.
    let opened = unsafe {
        at(directory, path, usage, |disk, place| {
            let path = c_path(place.path())?;
            let Target::Disk(on_disk) = place else {
                return match open(libc::AT_FDCWD, path.as_ptr()) {
                    fd @ 0.. => Ok((fd, false)),
                    _ => Err(last_error()),
                };
            };
            let existed = on_disk.symlink_metadata().is_ok();
            if existed && cuts_off && writes {
                let file = converted(
                    std::fs::OpenOptions::new()
                        .read(true)
                        .write(true)
                        .open(&on_disk),
                )?;
                let length = converted(file.metadata())?.len();
                converted(disk.will_change(&file, 0, length))?;
            }
            let fd = open(libc::AT_FDCWD, path.as_ptr());
            if fd < 0 {
                return Err(last_error());
            }
            if makes && !existed {
                disk.created(on_disk);
            }
            Ok((fd, true))
        })
    };
    match opened {
        None => open(directory, path),
        Some(Err(error)) => status(Err(error)),
        Some(Ok((fd, is_on_disk))) => {
            context::call(|engine, caller| {
                let mut kernel = engine.kernel.lock();
                // The number may be that of a file that code of the simulation has closed.
                kernel.close(fd, false);
                if is_on_disk {
                    kernel.on_disk.insert(fd, caller);
                }
                // SAFETY: as the caller of the C function promises.
                if unsafe { is_random(path) } {
                    kernel.files.open(fd, caller, Kind::Random, false);
                }
            });
            fd
        }
    }
}

/// Whether a path is that of a device of random bytes.
///
/// # Safety
///
/// The pointer is to a text that ends with a zero.
unsafe fn is_random(path: *const c_char) -> bool {
    // SAFETY: promised by the caller.
    let path = unsafe { CStr::from_ptr(path) };
    [c"/dev/random", c"/dev/urandom"].contains(&path)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn openat(fd: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { open_at(fd, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn openat64(fd: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { open_at(fd, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn creat(path: *const c_char, mode: mode_t) -> c_int {
    let flags = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;
    // SAFETY: the arguments are the caller's.
    unsafe { open_at(libc::AT_FDCWD, path, flags, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn statx(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mask: libc::c_uint,
    into: *mut libc::statx,
) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe {
        call_with_path(directory, path, Use::Read, |directory, path| {
            let (directory, flags) = (arg(directory), arg(flags));
            let arguments = [
                directory,
                path.expose_provenance(),
                flags,
                mask as usize,
                into.expose_provenance(),
                0,
            ];
            system(libc::SYS_statx, arguments) as c_int
        })
    }
}

/// # Safety
///
/// As for the C functions.
unsafe fn stat_at(
    directory: c_int,
    path: *const c_char,
    into: *mut libc::stat64,
    flags: c_int,
) -> c_int {
    // SAFETY: promised by the caller.
    unsafe {
        call_with_path(directory, path, Use::Read, |directory, path| {
            let (directory, flags) = (arg(directory), arg(flags));
            system4(
                libc::SYS_newfstatat,
                directory,
                path.expose_provenance(),
                into.expose_provenance(),
                flags,
            ) as c_int
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn stat64(path: *const c_char, into: *mut libc::stat64) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { stat_at(libc::AT_FDCWD, path, into, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn stat(path: *const c_char, into: *mut libc::stat64) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { stat_at(libc::AT_FDCWD, path, into, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lstat64(path: *const c_char, into: *mut libc::stat64) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { stat_at(libc::AT_FDCWD, path, into, libc::AT_SYMLINK_NOFOLLOW) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lstat(path: *const c_char, into: *mut libc::stat64) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { stat_at(libc::AT_FDCWD, path, into, libc::AT_SYMLINK_NOFOLLOW) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fstatat64(
    directory: c_int,
    path: *const c_char,
    into: *mut libc::stat64,
    flags: c_int,
) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { stat_at(directory, path, into, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fstatat(
    directory: c_int,
    path: *const c_char,
    into: *mut libc::stat64,
    flags: c_int,
) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { stat_at(directory, path, into, flags) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { faccessat(libc::AT_FDCWD, path, mode, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn faccessat(
    directory: c_int,
    path: *const c_char,
    mode: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe {
        call_with_path(directory, path, Use::Read, |directory, path| {
            let (directory, mode) = (arg(directory), arg(mode));
            // The system of an older kernel has only the call without flags.
            match flags {
                0 => system4(
                    libc::SYS_faccessat,
                    directory,
                    path.expose_provenance(),
                    mode,
                    0,
                ) as c_int,
                flags => {
                    let flags = arg(flags);
                    system4(
                        libc::SYS_faccessat2,
                        directory,
                        path.expose_provenance(),
                        mode,
                        flags,
                    ) as c_int
                }
            }
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readlink(path: *const c_char, into: *mut c_char, length: size_t) -> ssize_t {
    // SAFETY: the arguments are the caller's.
    let target = unsafe {
        at(libc::AT_FDCWD, path, Use::Read, |disk, place| {
            Ok(disk.shown(&converted(std::fs::read_link(place.path()))?))
        })
    };
    match target {
        Some(Ok(target)) => {
            let target = target.as_os_str().as_bytes();
            let bytes = target.len().min(length);
            // SAFETY: as the caller of the C function promises, there is room for `length` bytes.
            unsafe {
                into.cast::<u8>()
                    .copy_from_nonoverlapping(target.as_ptr(), bytes)
            };
            bytes as ssize_t
        }
        Some(Err(error)) => returned::<i64>(Err(error)) as ssize_t,
        // SAFETY: the arguments are the caller's.
        None => unsafe {
            let (path, into) = (path.expose_provenance(), into.expose_provenance());
            let directory = arg(libc::AT_FDCWD);
            system4(libc::SYS_readlinkat, directory, path, into, length) as ssize_t
        },
    }
}

/// The path without symbolic links, as the host sees it.
#[unsafe(no_mangle)]
unsafe extern "C" fn realpath(path: *const c_char, into: *mut c_char) -> *mut c_char {
    type RealPath = unsafe extern "C" fn(*const c_char, *mut c_char) -> *mut c_char;
    // SAFETY: the C library's function has this type.
    let call = unsafe { std::mem::transmute::<*mut c_void, RealPath>(next(c"realpath")) };
    // SAFETY: the arguments are the caller's.
    let resolved = unsafe {
        at(libc::AT_FDCWD, path, Use::Read, |disk, place| {
            let path = converted(place.path().canonicalize())?;
            c_path(&disk.shown(&path))
        })
    };
    match resolved {
        None => {
            // SAFETY: the arguments are the caller's.
            unsafe { call(path, into) }
        }
        Some(Err(Errno(error))) => {
            set_errno(error);
            std::ptr::null_mut()
        }
        // SAFETY: as the caller of the C function promises, there is room for `PATH_MAX` bytes.
        Some(Ok(path)) => unsafe {
            match into.is_null() {
                true => libc::strdup(path.as_ptr()),
                false => libc::strcpy(into, path.as_ptr()),
            }
        },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn opendir(path: *const c_char) -> *mut libc::DIR {
    type OpenDir = unsafe extern "C" fn(*const c_char) -> *mut libc::DIR;
    // SAFETY: the C library's function has this type.
    let call = unsafe { std::mem::transmute::<*mut c_void, OpenDir>(next(c"opendir")) };
    // SAFETY: the arguments are the caller's.
    match unsafe {
        at(libc::AT_FDCWD, path, Use::Read, |_, place| {
            c_path(place.path())
        })
    } {
        // SAFETY: the path is a text that ends with a zero.
        Some(Ok(path)) => unsafe { call(path.as_ptr()) },
        // SAFETY: as above.
        _ => unsafe { call(path) },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { mkdirat(libc::AT_FDCWD, path, mode) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdirat(directory: c_int, path: *const c_char, mode: mode_t) -> c_int {
    let make = |directory: c_int, path: *const c_char| {
        // SAFETY: the arguments are the caller's.
        unsafe {
            let directory = arg(directory);
            system4(
                libc::SYS_mkdirat,
                directory,
                path.expose_provenance(),
                mode as usize,
                0,
            ) as c_int
        }
    };
    let usage = Use::Change {
        needs_contents: false,
    };
    // SAFETY: the arguments are the caller's.
    let made = unsafe {
        at(directory, path, usage, |disk, place| {
            let shown = disk.shown(place.path());
            if matches!(place, Target::Disk(_)) && shown.exists() {
                return Err(Errno(libc::EEXIST));
            }
            let path = c_path(place.path())?;
            if make(libc::AT_FDCWD, path.as_ptr()) != 0 {
                return Err(last_error());
            }
            disk.created_directory(place.path().to_owned());
            Ok(())
        })
    };
    made.map_or_else(|| make(directory, path), status)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { unlinkat(libc::AT_FDCWD, path, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rmdir(path: *const c_char) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { unlinkat(libc::AT_FDCWD, path, libc::AT_REMOVEDIR) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlinkat(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the arguments are the caller's.
    let removed = unsafe {
        at(directory, path, Use::Read, |disk, place| {
            disk.check()?;
            let Target::Disk(path) = place else {
                // A host cannot remove a file of the machine.
                let exists = place.path().symlink_metadata().is_ok();
                return Err(Errno(if exists { libc::EROFS } else { libc::ENOENT }));
            };
            if flags & libc::AT_REMOVEDIR == 0 {
                return converted(disk.remove(path));
            }
            converted(std::fs::remove_dir(&path))?;
            disk.removed_directory(path);
            Ok(())
        })
    };
    // SAFETY: the arguments are the caller's.
    removed.map_or_else(
        || unsafe {
            let (directory, flags) = (arg(directory), arg(flags));
            system4(
                libc::SYS_unlinkat,
                directory,
                path.expose_provenance(),
                flags,
                0,
            ) as c_int
        },
        status,
    )
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { renameat(libc::AT_FDCWD, from, libc::AT_FDCWD, to) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn renameat(
    from_directory: c_int,
    from: *const c_char,
    to_directory: c_int,
    to: *const c_char,
) -> c_int {
    let usage = Use::Change {
        needs_contents: false,
    };
    // SAFETY: the arguments are the caller's.
    let target = unsafe {
        at(to_directory, to, usage, |_, place| {
            Ok(place.path().to_owned())
        })
    };
    let Some(target) = target else {
        let arguments = [
            arg(from_directory),
            from.expose_provenance(),
            arg(to_directory),
            to.expose_provenance(),
            0,
            0,
        ];
        // SAFETY: the arguments are the caller's.
        return unsafe { system(libc::SYS_renameat2, arguments) as c_int };
    };
    // SAFETY: the arguments are the caller's.
    let renamed = unsafe {
        at(from_directory, from, Use::Read, |disk, place| match place {
            Target::Disk(from) => converted(disk.rename(from, target?)),
            // A host cannot remove a file of the machine.
            Target::Machine(from) => {
                let exists = from.symlink_metadata().is_ok();
                Err(Errno(if exists { libc::EROFS } else { libc::ENOENT }))
            }
        })
    };
    status(renamed.unwrap_or(Err(Errno(libc::ENOENT))))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn renameat2(
    from_directory: c_int,
    from: *const c_char,
    to_directory: c_int,
    to: *const c_char,
    flags: libc::c_uint,
) -> c_int {
    if flags == 0 {
        // SAFETY: the arguments are the caller's.
        return unsafe { renameat(from_directory, from, to_directory, to) };
    }
    let arguments = [
        arg(from_directory),
        from.expose_provenance(),
        arg(to_directory),
        to.expose_provenance(),
        flags as usize,
        0,
    ];
    let is_host = context::call(|engine, _| {
        engine
            .kernel
            .lock()
            .record_unsimulated("a rename with flags, by renameat2".to_owned());
    });
    match is_host {
        Some(()) => status(Err(Errno(libc::EINVAL))),
        // SAFETY: the arguments are the caller's.
        None => unsafe { system(libc::SYS_renameat2, arguments) as c_int },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn link(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { linkat(libc::AT_FDCWD, from, libc::AT_FDCWD, to, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn linkat(
    from_directory: c_int,
    from: *const c_char,
    to_directory: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    let usage = Use::Change {
        needs_contents: true,
    };
    // SAFETY: the arguments are the caller's.
    let source = unsafe {
        at(from_directory, from, usage, |_, place| {
            Ok(place.path().to_owned())
        })
    };
    let Some(source) = source else {
        let (from_directory, to_directory) = (arg(from_directory), arg(to_directory));
        let arguments = [
            from_directory,
            from.expose_provenance(),
            to_directory,
            to.expose_provenance(),
            arg(flags),
            0,
        ];
        // SAFETY: the arguments are the caller's.
        return unsafe { system(libc::SYS_linkat, arguments) as c_int };
    };
    let usage = Use::Change {
        needs_contents: false,
    };
    // SAFETY: the arguments are the caller's.
    let linked = unsafe {
        at(to_directory, to, usage, |disk, place| {
            converted(std::fs::hard_link(source?, place.path()))?;
            disk.created(place.path().to_owned());
            Ok(())
        })
    };
    status(linked.unwrap_or(Err(Errno(libc::ENOENT))))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn symlink(target: *const c_char, path: *const c_char) -> c_int {
    let usage = Use::Change {
        needs_contents: false,
    };
    // SAFETY: the arguments are the caller's.
    let made = unsafe {
        at(libc::AT_FDCWD, path, usage, |disk, place| {
            let target = Path::new(OsStr::from_bytes(CStr::from_ptr(target).to_bytes()));
            let target = disk.target(target);
            converted(std::os::unix::fs::symlink(target, place.path()))?;
            disk.created(place.path().to_owned());
            Ok(())
        })
    };
    // SAFETY: the arguments are the caller's.
    made.map_or_else(
        || unsafe {
            let (target, path) = (target.expose_provenance(), path.expose_provenance());
            system4(libc::SYS_symlinkat, target, arg(libc::AT_FDCWD), path, 0) as c_int
        },
        status,
    )
}

#[unsafe(no_mangle)]
unsafe extern "C" fn chmod(path: *const c_char, mode: mode_t) -> c_int {
    let usage = Use::Change {
        needs_contents: true,
    };
    // SAFETY: the arguments are the caller's.
    unsafe {
        call_with_path(libc::AT_FDCWD, path, usage, |directory, path| {
            let mode = mode as usize;
            system4(
                libc::SYS_fchmodat,
                arg(directory),
                path.expose_provenance(),
                mode,
                0,
            ) as c_int
        })
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn utimensat(
    directory: c_int,
    path: *const c_char,
    times: *const libc::timespec,
    flags: c_int,
) -> c_int {
    let usage = Use::Change {
        needs_contents: true,
    };
    // SAFETY: the arguments are the caller's.
    unsafe {
        call_with_path(directory, path, usage, |directory, path| {
            let (directory, flags) = (arg(directory), arg(flags));
            system4(
                libc::SYS_utimensat,
                directory,
                path.expose_provenance(),
                times.expose_provenance(),
                flags,
            ) as c_int
        })
    }
}
