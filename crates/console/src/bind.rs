//! Listens on an address, or on one of the next ports if the port is in use.

use std::io;
use std::net::{SocketAddr, TcpListener};

/// The number of ports above the requested one that are tried.
const MAX_FURTHER: u16 = 16;

/// Parses an address with a port.
pub(crate) fn parse(address: &str, example: &str) -> io::Result<SocketAddr> {
    address.parse().map_err(|_| {
        let text = format!("{address:?} is not an address with a port; use one such as {example}");
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })
}

/// Listens on an address. If its port is in use, listens on the first free one of the ports above
/// that is allowed.
pub(crate) fn bind(
    address: SocketAddr,
    is_allowed: impl Fn(u16) -> bool,
) -> io::Result<TcpListener> {
    let first = address.port();
    let mut last_error = None;
    for further in 0..=MAX_FURTHER {
        let Some(port) = first.checked_add(further) else {
            break;
        };
        if !is_allowed(port) {
            continue;
        }
        match TcpListener::bind(SocketAddr::new(address.ip(), port)) {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && first != 0 => {
                last_error = Some(error);
            }
            // A further port may be one that only the system may use.
            Err(error) => return Err(last_error.unwrap_or(error)),
        }
    }
    let text = format!("{address} and the next {MAX_FURTHER} ports are in use");
    Err(io::Error::new(io::ErrorKind::AddrInUse, text))
}

#[cfg(test)]
mod tests;
