//! The addresses of Unix sockets.

use std::fmt;
use std::io;
#[cfg(target_os = "android")]
use std::os::android::net::SocketAddrExt;
#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net;
use std::path::Path;

use socket2::SockAddr;

/// The address of a Unix socket: a path, a name in Linux's abstract namespace, or none.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::UnixListener;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("socket");
/// let listener = UnixListener::bind(&path)?;
/// let address = listener.local_addr()?;
/// match address.as_pathname() {
///     Some(path) => println!("listening at {}", path.display()),
///     None => println!("no path"),
/// }
/// # Ok(()) }) }
/// ```
#[derive(Clone)]
pub struct SocketAddr(pub(super) net::SocketAddr);

impl SocketAddr {
    /// Returns whether the socket has no address, because it is not bound.
    pub fn is_unnamed(&self) -> bool {
        self.0.is_unnamed()
    }

    /// Returns the path, if the address is one.
    pub fn as_pathname(&self) -> Option<&Path> {
        self.0.as_pathname()
    }

    /// Returns the name in the abstract namespace, if the address is one, without the zero byte
    /// before it.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UnixListener;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = UnixListener::bind("\0raddle-example")?;
    /// assert_eq!(listener.local_addr()?.as_abstract_name(), Some(&b"raddle-example"[..]));
    /// # Ok(()) }) }
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn as_abstract_name(&self) -> Option<&[u8]> {
        self.0.as_abstract_name()
    }

    /// Converts an address that a system call returned. A path that fills the address, with no zero
    /// after it, is refused, since std refuses it.
    #[cfg(target_os = "linux")]
    pub(super) fn from_system(addr: &SockAddr) -> io::Result<SocketAddr> {
        if let Some(name) = addr.as_abstract_namespace() {
            return net::SocketAddr::from_abstract_name(name).map(SocketAddr);
        }
        match addr.as_pathname() {
            Some(path) => net::SocketAddr::from_pathname(path).map(SocketAddr),
            None => SocketAddr::unnamed(),
        }
    }

    /// Returns the address of an unnamed socket: the empty path.
    #[cfg(target_os = "linux")]
    pub(super) fn unnamed() -> io::Result<SocketAddr> {
        net::SocketAddr::from_pathname(Path::new("")).map(SocketAddr)
    }
}

/// Returns the address of a path. On Linux a path that begins with a zero byte is a name in the
/// abstract namespace.
pub(super) fn of_path(path: &Path) -> io::Result<net::SocketAddr> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use std::os::unix::ffi::OsStrExt;

        if let Some(name) = path.as_os_str().as_bytes().strip_prefix(b"\0") {
            return net::SocketAddr::from_abstract_name(name);
        }
    }
    net::SocketAddr::from_pathname(path)
}

/// Returns the form of [`of_path`] that a system call takes. The functions of mio and std that take
/// a path refuse a name in the abstract namespace.
pub(super) fn system_addr(path: &Path) -> io::Result<SockAddr> {
    // Refuses what no socket can have: a path with a zero byte, which the system would cut there.
    of_path(path)?;
    SockAddr::unix(path)
}

impl SocketAddr {
    /// Returns the form that a system call takes.
    pub(super) fn to_system(&self) -> io::Result<SockAddr> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            use std::ffi::OsStr;
            use std::os::unix::ffi::OsStrExt;

            if let Some(name) = self.as_abstract_name() {
                let path = [b"\0", name].concat();
                return SockAddr::unix(OsStr::from_bytes(&path));
            }
        }
        SockAddr::unix(self.as_pathname().unwrap_or(Path::new("")))
    }
}

impl fmt::Debug for SocketAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<net::SocketAddr> for SocketAddr {
    fn from(addr: net::SocketAddr) -> SocketAddr {
        SocketAddr(addr)
    }
}

impl From<SocketAddr> for net::SocketAddr {
    fn from(addr: SocketAddr) -> net::SocketAddr {
        addr.0
    }
}
