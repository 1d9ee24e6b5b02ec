//! Faults at random times.

use std::time::Duration;

use crate::random::Random;
use crate::sim::Sim;

/// Faults at random times, by the seed of a simulation: [`Sim::chaos`].
///
/// Each fault begins at a random time after the one before, is of a random kind among those that
/// are allowed, strikes random hosts, and ends after a random time. Clients are never stopped, since
/// they do not start again.
///
/// ```
/// use raddle_sim::{Chaos, secs};
///
/// // Partitions and crashes only, one every two seconds, for a minute.
/// let chaos = Chaos {
///     mean_interval: secs(2),
///     end: secs(60),
///     pauses: false,
///     holds: false,
///     ..Chaos::default()
/// };
/// # let _ = chaos;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chaos {
    /// The mean time from the start of a fault to the start of the next.
    pub mean_interval: Duration,
    /// The mean time that a fault lasts.
    pub mean_duration: Duration,
    /// When the last fault ends. After that the program has time to recover.
    pub end: Duration,
    /// Whether links between two hosts are cut, in one direction or both.
    pub partitions: bool,
    /// Whether links between two hosts hold their packets.
    pub holds: bool,
    /// Whether hosts crash or are killed, and start again.
    pub crashes: bool,
    /// Whether hosts are paused.
    pub pauses: bool,
}

impl Default for Chaos {
    /// All kinds of faults; one every 3 s that lasts 1 s, for 30 s.
    fn default() -> Self {
        Self {
            mean_interval: Duration::from_secs(3),
            mean_duration: Duration::from_secs(1),
            end: Duration::from_secs(30),
            partitions: true,
            holds: true,
            crashes: true,
            pauses: true,
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Partition,
    OneWay,
    Hold,
    Crash,
    Kill,
    Pause,
}

impl Chaos {
    pub(crate) fn add_to(&self, sim: &mut Sim) {
        let hosts: Vec<_> = sim
            .names()
            .map(|(name, is_client)| (name.to_owned(), is_client))
            .collect();
        let servers: Vec<_> = hosts.iter().filter(|(_, is_client)| !is_client).collect();
        let mut kinds = Vec::new();
        if hosts.len() > 1 {
            kinds.extend(
                self.partitions
                    .then_some([Kind::Partition, Kind::OneWay])
                    .into_iter()
                    .flatten(),
            );
            kinds.extend(self.holds.then_some(Kind::Hold));
        }
        if !servers.is_empty() {
            kinds.extend(
                self.crashes
                    .then_some([Kind::Crash, Kind::Kill])
                    .into_iter()
                    .flatten(),
            );
            kinds.extend(self.pauses.then_some(Kind::Pause));
        }
        if kinds.is_empty() {
            return;
        }
        // Not the numbers that the simulation itself uses.
        let mut random = Random::new(!sim.seed());
        let mut time = Duration::ZERO;
        loop {
            time += random.exponential(self.mean_interval);
            if time >= self.end {
                return;
            }
            let length = random.exponential(self.mean_duration).min(self.end - time);
            let kind = kinds[random.index(kinds.len())];
            let one = random.index(hosts.len());
            let other = (one + 1 + random.index(hosts.len() - 1)) % hosts.len();
            let (one, other) = (hosts[one].0.as_str(), hosts[other].0.as_str());
            let at = sim.at(time);
            let fault = match kind {
                Kind::Partition => at.partition(one, other),
                Kind::OneWay => at.partition_one_way(one, other),
                Kind::Hold => at.hold(one, other),
                Kind::Crash | Kind::Kill | Kind::Pause => {
                    let server = servers[random.index(servers.len())].0.as_str();
                    match kind {
                        Kind::Crash => at.crash(server),
                        Kind::Kill => at.kill(server),
                        _ => at.pause(server),
                    }
                }
            };
            fault.for_(length);
        }
    }
}
