//! Servers and clients of the ecosystem, each on a simulated host of its own, while the network
//! fails and the server restarts.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_types,
    reason = "programs take their locks from std"
)]

mod grpc;
mod http;
mod http2;
mod postgres;
mod quic;
mod raft;
mod redis;
mod tls;
mod tower;
mod websocket;

use raddle_sim::Sim;

/// Runs a scenario twice with the same seed, and compares the traces.
fn run_twice(scenario: fn(&mut Sim)) {
    let compared = raddle_sim::compare(1, |sim| {
        scenario(sim);
        sim.run();
    });
    if let Err(difference) = compared {
        panic!("{difference}");
    }
}
