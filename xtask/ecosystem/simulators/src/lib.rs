//! What the programs have in common.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

/// What a program measures.
#[derive(Clone, Copy)]
pub enum Load {
    /// Requests and responses between so many pairs of hosts, so many on each.
    Messages { pairs: usize, rounds: usize },
    /// One host that sleeps so many times for a minute.
    Minutes(usize),
}

impl Load {
    /// Reads the arguments `messages PAIRS ROUNDS` or `minutes COUNT`.
    pub fn from_arguments() -> Self {
        let arguments: Vec<_> = std::env::args().skip(1).collect();
        let words: Vec<_> = arguments.iter().map(String::as_str).collect();
        let number = |text: &str| text.parse().expect("the arguments have numbers");
        match words[..] {
            ["messages", pairs, rounds] => Self::Messages {
                pairs: number(pairs),
                rounds: number(rounds),
            },
            ["minutes", count] => Self::Minutes(number(count)),
            _ => panic!("use messages PAIRS ROUNDS, or minutes COUNT"),
        }
    }

    /// Prints the messages in a second of real time, or the milliseconds.
    pub fn print(self, start: Instant) {
        let time = start.elapsed().as_secs_f64();
        match self {
            Self::Messages { pairs, rounds } => {
                println!("{:.0} messages/s", (2 * pairs * rounds) as f64 / time);
            }
            Self::Minutes(count) => println!("{:.3} ms for {count} minutes", time * 1e3),
        }
    }
}

/// The length of a request and of a response.
pub const BYTES: usize = 64;
/// How long a packet is on its way.
pub const LATENCY: Duration = Duration::from_micros(500);
/// A minute.
pub const MINUTE: Duration = Duration::from_secs(60);
