//! The system calls per message, as `strace` counts them.

use std::io::{Error, Result};

use super::Launch;
use super::client::{Load, Until};
use crate::record::Figure;

/// The figures, in their order.
pub const FIGURES: &[Figure] = &[
    Figure::less("epoll_wait", "calls"),
    Figure::less("read, recvfrom, ...", "calls"),
    Figure::less("of these in vain", "calls"),
    Figure::less("write, sendto, writev, ...", "calls"),
    Figure::less("futex", "calls"),
    Figure::less("others", "calls"),
    Figure::less("all", "calls"),
];

/// System calls, or system calls per message, in the order of [`FIGURES`].
pub type Calls = [f64; 7];

/// Returns how many system calls the server makes per message, if each connection sends `each`
/// messages. The calls of a server that answers one message per connection are subtracted, so that
/// its start and the accepts do not count.
pub fn per_message(launch: Launch, load: &Load, each: u64) -> Result<Calls> {
    let (less, few) = count(launch, load, 1)?;
    let (more, many) = count(launch, load, 1 + each)?;
    let messages = many.saturating_sub(few).max(1) as f64;
    Ok(std::array::from_fn(|figure| {
        // Calls that do not belong to messages vary.
        (more[figure] - less[figure]).max(0.0) / messages
    }))
}

fn count(launch: Launch, load: &Load, each: u64) -> Result<(Calls, u64)> {
    let server = launch.start_traced()?;
    let (done, text) = load.run(server.address, Until::Each(each), || server.end())?;
    let calls = parse(&text);
    let calls = calls.ok_or_else(|| Error::other(format!("strace counted nothing: {text}")))?;
    Ok((calls, done.messages))
}

/// Parses the table: share, seconds, microseconds, calls, errors if any, name.
fn parse(text: &str) -> Option<Calls> {
    let mut calls = Calls::default();
    let mut rows = text.lines().skip_while(|line| !line.starts_with("---"));
    for row in rows.by_ref().skip(1) {
        if row.starts_with("---") {
            return Some(calls);
        }
        let words: Vec<_> = row.split_whitespace().collect();
        let number = |index: usize| words.get(index)?.parse::<f64>().ok();
        let count = number(3)?;
        let group = match *words.last()? {
            "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => 0,
            "read" | "readv" | "recvfrom" | "recvmsg" => {
                calls[2] += number(4).unwrap_or(0.0);
                1
            }
            "write" | "writev" | "sendto" | "sendmsg" => 3,
            "futex" => 4,
            _ => 5,
        };
        calls[group] += count;
        calls[6] += count;
    }
    None
}

#[cfg(test)]
mod tests;
