//! openraft: three or five nodes that replicate a list of numbers, while they crash and the network
//! fails. The log, the snapshots and the connections are the test's own.
//!
//! Each of three planted faults is found, too.

mod client;
mod cluster;
mod log;
mod machine;
mod network;
mod node;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use openraft::{Config, EmptyNode, SnapshotPolicy};
use raddle_sim::{Chaos, Latency, Link, Sim, millis};
use serde::{Deserialize, Serialize};

use client::Client;
use cluster::Cluster;
use machine::Contents;
use node::Node;

const CLIENTS: [&str; 2] = ["alice", "bob"];
/// The longest virtual time. A scenario takes about two seconds.
const LIMIT: Duration = Duration::from_secs(30);
/// How many seeds find each planted fault at least once.
const SEEDS_TO_FIND: u64 = 100;

openraft::declare_raft_types!(
    /// The types of openraft.
    Types:
        D = Append,
        R = Option<u64>,
        Node = EmptyNode,
        SnapshotData = Contents,
);

/// The command of a client: to append a number to the list. The reply is its position.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Append {
    /// Attempts of the same request append the number once.
    request: u64,
    value: u64,
}

/// A fault of the code that the test owns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// A node keeps its vote in memory only.
    VoteInMemory,
    /// A candidate counts the vote of one node even when it does not reach it, so that it needs one
    /// vote less than a majority.
    QuorumOffByOne,
    /// A client makes each attempt with a new request.
    RetryAsNewRequest,
}

fn host(node: u64) -> String {
    format!("node{node}")
}

fn config() -> Config {
    Config {
        election_timeout_min: 60,
        election_timeout_max: 120,
        heartbeat_interval: 30,
        snapshot_policy: SnapshotPolicy::LogsSinceLast(8),
        max_in_snapshot_log_to_keep: 2,
        replication_lag_threshold: 10,
        ..Config::default()
    }
}

/// The returned state is that of the whole cluster after the simulation.
fn scenario(sim: &mut Sim, fault: Option<Fault>) -> Arc<Mutex<Cluster>> {
    let nodes = if sim.seed() % 4 == 3 { 5 } else { 3 };
    let cluster = Arc::<Mutex<Cluster>>::default();
    let config = Arc::new(config());
    for id in 1..=nodes {
        let (cluster, config) = (Arc::clone(&cluster), Arc::clone(&config));
        sim.host(&host(id), move || {
            let cluster = Arc::clone(&cluster);
            let (node, errors) = Node::new(id, nodes, fault, cluster);
            node::run(node, errors, Arc::clone(&config))
        });
    }
    for (number, name) in (1..).zip(CLIENTS) {
        let client = Client::new(number, nodes, fault, Arc::clone(&cluster));
        sim.client(name, client.run());
    }
    // openraft draws the election time-out of a node once, and checks it in ticks. Candidates whose
    // ticks come at the same times get no majority, until their clocks have moved apart.
    for (id, parts) in (1..=nodes).zip((0..).step_by(5_000)) {
        sim.clock_drift(&host(id), parts);
    }
    sim.limit(LIMIT);
    sim.default_link(Link {
        latency: Latency::Exponential {
            min: millis(1),
            mean: millis(2),
        },
        loss: 0.01,
        ..Link::default()
    });
    sim.chaos(Chaos {
        mean_interval: millis(40),
        mean_duration: millis(100),
        end: millis(1_500),
        ..Chaos::default()
    });
    cluster
}

fn replicate(sim: &mut Sim, fault: Option<Fault>) {
    let cluster = scenario(sim, fault);
    sim.run();
    cluster.lock().unwrap().assert_complete();
}

#[raddle_sim::test(seeds = 20)]
fn nodes_agree_and_acknowledged_numbers_are_in_the_list_once(sim: &mut Sim) {
    replicate(sim, None);
}

#[test]
fn a_seed_repeats() {
    crate::run_twice(|sim| {
        scenario(sim, None);
    });
}

/// Runs up to `SEEDS_TO_FIND` seeds with a fault until one fails by this symptom. Runs that one
/// again, to see that it fails in the same way, and without the fault, to see that it passes.
fn finds(test: &str, fault: Fault, symptom: &str) {
    let run = |sim: &mut Sim| {
        scenario(sim, Some(fault));
        sim.try_run().err().filter(|error| error.contains(symptom))
    };
    let found = raddle_sim::try_check(test, SEEDS_TO_FIND, |sim| {
        if let Some(error) = run(sim) {
            panic!("{error}");
        }
    });
    let message = found.expect_err("no seed finds the fault");
    println!("{}", message.lines().next().unwrap_or_default());
    // It has no such command if two more runs, in processes of their own, do not fail or differ.
    assert!(message.contains("To replay it:"), "{message}");
    let seed = message.split_whitespace().nth(1);
    let seed = seed.and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.expect("the message begins with the seed");
    assert!(seed < SEEDS_TO_FIND, "{message}");
    let error = run(&mut Sim::new(seed)).expect("the seed fails in this process, too");
    assert!(message.contains(&error), "{error}, and before: {message}");
    replicate(&mut Sim::new(seed), None);
}

#[test]
fn a_vote_that_is_not_persisted_is_found() {
    let test = concat!(module_path!(), "::a_vote_that_is_not_persisted_is_found");
    finds(test, Fault::VoteInMemory, "two leaders");
}

#[test]
fn a_quorum_that_is_off_by_one_is_found() {
    let test = concat!(module_path!(), "::a_quorum_that_is_off_by_one_is_found");
    finds(test, Fault::QuorumOffByOne, "two leaders");
}

#[test]
fn a_retry_that_is_not_idempotent_is_found() {
    let test = concat!(module_path!(), "::a_retry_that_is_not_idempotent_is_found");
    finds(test, Fault::RetryAsNewRequest, "appended twice");
}
