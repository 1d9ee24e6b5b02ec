//! The network of all scenarios, and what happens to the server.

use std::time::Duration;

use raddle_sim::{Latency, Link, Sim};

/// The longest virtual time. A scenario takes less than half a minute, unless its clients try again
/// and again without success.
const LIMIT: Duration = Duration::from_secs(120);

/// Sets a link that delays and loses packets. Cuts each client off from the host `server` for a
/// time, and restarts that host twice: by a loss of power, and by a kill. The times depend on the
/// seed, between one and six seconds after the start.
pub fn disturb(sim: &mut Sim, clients: &[&str]) {
    sim.limit(LIMIT);
    sim.default_link(Link {
        latency: Latency::Exponential {
            min: Duration::from_millis(1),
            mean: Duration::from_millis(5),
        },
        loss: 0.01,
        duplication: 0.01,
        ..Link::default()
    });
    let shift = Duration::from_millis(sim.seed() * 37 % 1_000);
    for (number, client) in (0..).zip(clients) {
        let begin = Duration::from_millis(1_000 + 400 * number) + shift;
        sim.at(begin)
            .partition(client, "server")
            .for_(Duration::from_millis(700));
    }
    sim.at(Duration::from_millis(2_500) + shift)
        .crash("server")
        .for_(Duration::from_millis(300));
    sim.at(Duration::from_millis(4_500) + shift)
        .kill("server")
        .for_(Duration::from_millis(200));
}
