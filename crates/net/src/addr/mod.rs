//! Conversions to socket addresses.

mod lookup;

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use lookup::Lookup;

/// Types that convert to socket addresses: an address, a pair of an IP address and a port, a slice
/// of addresses, or a string.
///
/// A host is given as `"host:port"`, or as a pair of host and port. A literal address is parsed at
/// once. Any other host is a name, which the operating system resolves on a thread of the runtime's
/// blocking pool, or outside a runtime on a new thread for each look-up (see
/// [`raddle_task::blocking`]). A look-up that is dropped before it ends occupies its thread until
/// the system answers.
///
/// The trait is sealed: it cannot be implemented outside this crate.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::TcpListener;
/// use std::net::{Ipv4Addr, SocketAddr};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let address: SocketAddr = "127.0.0.1:0".parse()?;
/// TcpListener::bind(address).await?;
/// TcpListener::bind("127.0.0.1:0").await?;
/// TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
/// // The first that can be bound.
/// TcpListener::bind(&[address, "127.0.0.1:7000".parse()?][..]).await?;
/// # Ok(()) }) }
/// ```
pub trait ToSocketAddrs: sealed::Sealed {}

mod sealed {
    /// The work behind [`ToSocketAddrs`](super::ToSocketAddrs).
    pub trait Sealed {
        fn lookup(&self) -> super::Lookup;
    }
}

/// Returns the addresses of a host: a literal address at once, a name after asking the operating
/// system.
///
/// # Errors
///
/// - `InvalidInput` if the text is not of the form `"host:port"`.
/// - An uncategorized error if the name is not known, or if no name server answers.
/// - `Other` if the runtime shuts down, or if the system refuses a thread.
///
/// # Cancel safety
///
/// Cancel safe: dropping the future only stops waiting for the answer; a thread may still be
/// resolving the name.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::lookup_host;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// for address in lookup_host("localhost:80").await? {
///     println!("{address}");
/// }
/// # Ok(()) }) }
/// ```
pub async fn lookup_host<T: ToSocketAddrs>(
    host: T,
) -> io::Result<impl Iterator<Item = SocketAddr>> {
    raddle_leaf::coop::consume_budget().await;
    resolve(host).await
}

/// This function is not `async`, so that a future that awaits the look-up does not hold `host`.
pub(crate) fn resolve<T: ToSocketAddrs>(host: T) -> Lookup {
    host.lookup()
}

/// Calls `attempt` with one address after the other, until it succeeds. Returns the last error.
pub(crate) async fn first_success<A: ToSocketAddrs, T>(
    addr: A,
    mut attempt: impl FnMut(SocketAddr) -> io::Result<T>,
) -> io::Result<T> {
    raddle_leaf::coop::consume_budget().await;
    let addrs = resolve(addr).await?;
    let mut last = None;
    for addr in addrs {
        match attempt(addr) {
            Ok(value) => return Ok(value),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(no_address))
}

pub(crate) fn no_address() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "no address to use; give at least one",
    )
}

macro_rules! addresses {
    ($($t:ty),+ $(,)?) => {$(
        impl ToSocketAddrs for $t {}

        impl sealed::Sealed for $t {
            fn lookup(&self) -> Lookup {
                Lookup::from_addr((*self).into())
            }
        }
    )+};
}

addresses!(
    SocketAddr,
    SocketAddrV4,
    SocketAddrV6,
    (IpAddr, u16),
    (Ipv4Addr, u16),
    (Ipv6Addr, u16),
);

impl ToSocketAddrs for &[SocketAddr] {}

impl sealed::Sealed for &[SocketAddr] {
    fn lookup(&self) -> Lookup {
        Lookup::from_addrs(self)
    }
}

impl ToSocketAddrs for str {}

impl sealed::Sealed for str {
    fn lookup(&self) -> Lookup {
        if let Ok(addr) = self.parse() {
            return Lookup::from_addr(addr);
        }
        let parts = self.rsplit_once(':');
        match parts.and_then(|(host, port)| Some((host, port.parse().ok()?))) {
            Some((host, port)) => Lookup::resolve(host, port),
            None => Lookup::failed(io::Error::new(
                io::ErrorKind::InvalidInput,
                "invalid socket address; write host:port",
            )),
        }
    }
}

impl ToSocketAddrs for (&str, u16) {}

impl sealed::Sealed for (&str, u16) {
    fn lookup(&self) -> Lookup {
        let (host, port) = *self;
        match host.parse::<IpAddr>() {
            Ok(ip) => Lookup::from_addr((ip, port).into()),
            Err(_) => Lookup::resolve(host, port),
        }
    }
}

impl ToSocketAddrs for String {}

impl sealed::Sealed for String {
    fn lookup(&self) -> Lookup {
        self.as_str().lookup()
    }
}

impl ToSocketAddrs for (String, u16) {}

impl sealed::Sealed for (String, u16) {
    fn lookup(&self) -> Lookup {
        (self.0.as_str(), self.1).lookup()
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {}

impl<T: ToSocketAddrs + ?Sized> sealed::Sealed for &T {
    fn lookup(&self) -> Lookup {
        (**self).lookup()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
