//! The limit on the sockets of a process.

use std::io::{Error, Result};

use rustix::process::{Resource, getrlimit, setrlimit};

/// The number of descriptors that a program needs besides the sockets of a load.
const OTHERS: u64 = 100;

/// Raises the limit of descriptors for this process and its children.
pub fn allow(sockets: usize) -> Result<()> {
    let wanted = sockets as u64 + OTHERS;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= wanted) {
        return Ok(());
    }
    if let Some(most) = limit.maximum.filter(|most| *most < wanted) {
        return Err(Error::other(format!(
            "{sockets} sockets are more than the {most} descriptors that a process may have; raise ulimit -Hn"
        )));
    }
    limit.current = Some(wanted);
    Ok(setrlimit(Resource::Nofile, limit)?)
}

#[cfg(test)]
mod tests;
