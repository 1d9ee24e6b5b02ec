//! The network between hosts, and their ends: what turmoil's tests and examples check too, as far
//! as no other module does. Where turmoil 0.7 gives another result, this crate follows Linux:
//!
//! | | turmoil | here |
//! |---|---|---|
//! | connecting while the link is cut | is refused at once | is tried for 127 s, then times out |
//! | connecting to a full queue of a listener | panics | is tried again after 1, 3, 7 .. s |
//! | connections in the queue of a listener that is dropped | were never open | are open, and reset |
//! | an established connection while the link is cut | loses bytes for good | sends them again |
//! | what a connection or a socket holds | 64 messages | 256 KiB for TCP, 208 KiB for UDP |
//! | `shutdown` of a direction that has ended | `NotConnected` | succeeds while the peer is there |
//! | an address of no host | `ConnectionRefused` | `NetworkUnreachable` |
//! | a datagram to a port of the own host without a socket | an error of `send_to` | no error |
//! | a socket of `127.0.0.1` that sends to another host | no error | `InvalidInput` |
//! | binding to an address of another host | an error of its own | `AddrNotAvailable` |
//! | ports that a host chooses | from 49,152; then a panic | from 32,768; then an error |
//! | addresses of hosts | IPv4 or IPv6 | IPv4; `[::]` listens for both |
//! | joining a group twice | succeeds | `AddrInUse` |
//! | two faults of one link | the last call counts | each lasts for its own time |
//!
//! Not offered here: groups of IPv6, packets that the test delivers itself, names of hosts by a
//! pattern, counts of connections, barriers within a program.

use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

mod groups;
mod hosts;
mod tcp;
mod udp;

/// The virtual time since the start.
fn since_start() -> Duration {
    let start = UNIX_EPOCH + Duration::from_secs(1_767_225_600);
    SystemTime::now().duration_since(start).unwrap()
}

/// Sleeps until a time after the start.
async fn until(time: Duration) {
    raddle::time::sleep(time.saturating_sub(since_start())).await;
}

/// The address of a host.
async fn addr_of(name: &str) -> IpAddr {
    let mut found = raddle::net::lookup_host((name, 0)).await.unwrap();
    found.next().unwrap().ip()
}
