//! Addresses as the C library has them.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libc::{c_int, sockaddr, socklen_t};

use crate::kernel::disk::{Disk, Target, errno};
use crate::kernel::net::Addr;
use crate::kernel::{Errno, Result};

/// Where the path of a Unix address begins.
const PATH: usize = std::mem::offset_of!(libc::sockaddr_un, sun_path);

/// Reads an address. `None` is the family of no address, `AF_UNSPEC`.
///
/// # Safety
///
/// The pointer is null, or `length` bytes are valid.
pub(super) unsafe fn read(from: *const sockaddr, length: socklen_t) -> Result<Option<Addr>> {
    let length = length as usize;
    if from.is_null() || length < size_of::<libc::sa_family_t>() {
        return Err(Errno(libc::EINVAL));
    }
    // SAFETY: the family was checked to be there; the rest is read after its length was checked. It
    // need not be aligned.
    unsafe {
        match c_int::from(from.cast::<libc::sa_family_t>().read_unaligned()) {
            libc::AF_UNSPEC => Ok(None),
            libc::AF_INET if length >= size_of::<libc::sockaddr_in>() => {
                let addr = from.cast::<libc::sockaddr_in>().read_unaligned();
                let ip = Ipv4Addr::from(u32::from_be(addr.sin_addr.s_addr));
                let port = u16::from_be(addr.sin_port);
                Ok(Some(Addr::Inet(SocketAddr::from((ip, port)))))
            }
            libc::AF_INET6 if length >= size_of::<libc::sockaddr_in6>() => {
                let addr = from.cast::<libc::sockaddr_in6>().read_unaligned();
                let ip = Ipv6Addr::from(addr.sin6_addr.s6_addr).to_canonical();
                let port = u16::from_be(addr.sin6_port);
                Ok(Some(Addr::Inet(SocketAddr::new(ip, port))))
            }
            libc::AF_UNIX => {
                let path = from.cast::<u8>().add(PATH);
                let path = std::slice::from_raw_parts(path, length.saturating_sub(PATH));
                let end = match path {
                    // An abstract name has all bytes.
                    [0, ..] | [] => path.len(),
                    _ => path
                        .iter()
                        .position(|byte| *byte == 0)
                        .unwrap_or(path.len()),
                };
                Ok(Some(Addr::Unix(Arc::from(&path[..end]), None)))
            }
            libc::AF_INET | libc::AF_INET6 => Err(Errno(libc::EINVAL)),
            _ => Err(Errno(libc::EAFNOSUPPORT)),
        }
    }
}

/// Reads an address that a socket of the family `domain` is to be bound or connected to.
///
/// # Safety
///
/// As for [`read`].
pub(super) unsafe fn read_for(
    domain: c_int,
    from: *const sockaddr,
    length: socklen_t,
) -> Result<Option<Addr>> {
    // SAFETY: promised by the caller.
    let addr = unsafe { read(from, length) }?;
    if addr.is_some() {
        // SAFETY: `read` has found a family there, which need not be aligned.
        let family = unsafe { from.cast::<libc::sa_family_t>().read_unaligned() };
        match (domain, c_int::from(family)) {
            (domain, family) if domain == family => {}
            (libc::AF_INET, _) => return Err(Errno(libc::EAFNOSUPPORT)),
            // Linux finds the address too short, or of a wrong kind.
            _ => return Err(Errno(libc::EINVAL)),
        }
    }
    Ok(addr)
}

/// The path of a Unix address, if it has one. An abstract name has none.
fn path_of(addr: &Addr) -> Option<io::Result<PathBuf>> {
    let Addr::Unix(path, None) = addr else {
        return None;
    };
    if path.first().is_none_or(|first| *first == 0) {
        return None;
    }
    Some(std::path::absolute(OsStr::from_bytes(path)))
}

fn with_file(addr: Addr, found: &Metadata) -> Addr {
    match addr {
        Addr::Unix(path, _) => Addr::Unix(path, Some((found.dev(), found.ino()))),
        addr => addr,
    }
}

/// The address of a Unix socket with the file that its path names on the disk of a host.
pub(super) fn find_file(disk: &Disk, addr: Addr) -> Result<Addr> {
    let Some(path) = path_of(&addr) else {
        return Ok(addr);
    };
    let found = path.and_then(|path| std::fs::metadata(disk.find(&path).path()));
    let found = found.map_err(|error| errno(&error))?;
    Ok(with_file(addr, &found))
}

/// Binds the system's socket to a path on the disk of a host, so that the file can be found and
/// removed. Returns the address with the file.
pub(super) fn make_file(fd: c_int, name: &str, disk: &mut Disk, addr: Addr) -> Result<Addr> {
    let Some(path) = path_of(&addr) else {
        return Ok(addr);
    };
    let made = path.and_then(|path| {
        let place = disk.find_to_change(name, &path, false)?;
        let path = place.path();
        // The system's own path would be too long for the address.
        let (Some(parent), Some(last)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        };
        let parent = File::open(parent)?;
        let short = format!("/proc/self/fd/{}", parent.as_raw_fd());
        bind_to(fd, &Path::new(&short).join(last))?;
        if let Target::Disk(path) = &place {
            disk.created(path.clone());
        }
        std::fs::metadata(place.path())
    });
    let found = made.map_err(|error| errno(&error))?;
    Ok(with_file(addr, &found))
}

fn bind_to(fd: c_int, path: &Path) -> io::Result<()> {
    let path = path.as_os_str().as_bytes();
    // SAFETY: the struct is integers, for which zero is a value.
    let mut addr: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    addr.sun_family = libc::AF_UNIX as _;
    let Some(room) = addr.sun_path.get_mut(..path.len()) else {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    };
    for (into, byte) in room.iter_mut().zip(path) {
        *into = *byte as libc::c_char;
    }
    let length = PATH + path.len();
    // SAFETY: so many bytes of the address are valid.
    match unsafe {
        super::system4(
            libc::SYS_bind,
            super::arg(fd),
            (&raw const addr).expose_provenance(),
            length,
            0,
        )
    } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Writes an address as a socket of the family `domain` shows it, cut off after the length that is
/// there, and the length that it has.
///
/// # Safety
///
/// Both pointers are null, or the length is valid and so many bytes are writable.
pub(super) unsafe fn write(
    addr: &Addr,
    domain: c_int,
    into: *mut sockaddr,
    length: *mut socklen_t,
) {
    if into.is_null() || length.is_null() {
        return;
    }
    // SAFETY: promised by the caller. The structs are copied as bytes.
    unsafe {
        let room = length.read() as usize;
        let copy = |from: *const u8, bytes: usize| {
            into.cast::<u8>()
                .copy_from_nonoverlapping(from, bytes.min(room));
            length.write(bytes as socklen_t);
        };
        match addr {
            Addr::Inet(SocketAddr::V4(addr)) if domain == libc::AF_INET => {
                let mut raw: libc::sockaddr_in = std::mem::zeroed();
                raw.sin_family = libc::AF_INET as _;
                raw.sin_port = addr.port().to_be();
                raw.sin_addr.s_addr = u32::from(*addr.ip()).to_be();
                copy((&raw const raw).cast(), size_of_val(&raw));
            }
            Addr::Inet(addr) => {
                let addr = to_v6(*addr);
                let mut raw: libc::sockaddr_in6 = std::mem::zeroed();
                raw.sin6_family = libc::AF_INET6 as _;
                raw.sin6_port = addr.port().to_be();
                raw.sin6_addr.s6_addr = addr.ip().octets();
                copy((&raw const raw).cast(), size_of_val(&raw));
            }
            Addr::Unix(path, _) => {
                let mut raw: libc::sockaddr_un = std::mem::zeroed();
                raw.sun_family = libc::AF_UNIX as _;
                let bytes = path.len().min(raw.sun_path.len());
                raw.sun_path
                    .as_mut_ptr()
                    .cast::<u8>()
                    .copy_from_nonoverlapping(path.as_ptr(), bytes);
                // A path ends with a zero, which counts.
                let is_path = path.first().is_some_and(|first| *first != 0);
                let end = (bytes + usize::from(is_path)).min(raw.sun_path.len());
                copy((&raw const raw).cast(), PATH + end);
            }
        }
    }
}

fn to_v6(addr: SocketAddr) -> SocketAddrV6 {
    match addr {
        SocketAddr::V6(addr) => addr,
        SocketAddr::V4(addr) if addr.ip().is_unspecified() => {
            SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, addr.port(), 0, 0)
        }
        SocketAddr::V4(addr) => SocketAddrV6::new(addr.ip().to_ipv6_mapped(), addr.port(), 0, 0),
    }
}
