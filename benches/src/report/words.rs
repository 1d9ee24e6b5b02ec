//! What each section is about, and what to make of it.

use crate::record::{Comparison, Section};

use super::{Standing, Tally};
use crate::table::short;

/// How many figures at which Raddle is behind are named.
const LISTED: usize = 8;

/// The title of a section, and how to read it.
pub(super) fn about(section: Section) -> (&'static str, &'static str) {
    match section {
        Section::Scheduler => (
            "The scheduler",
            "What it costs to spawn, wake and join tasks that do next to nothing, so that only the runtime is \
             measured. What differs is some tenths of a microsecond a task: for one that computes for 10 microseconds \
             between two waits that is a few percent, for one that waits for a network less. Messages go over \
             Tokio's channels on every runtime; they count against a task's poll budget on Tokio only. With more workers than the machine has cores, the \
             figures also show how a runtime copes with threads that the system has preempted.",
        ),
        Section::Latency => (
            "Tail latency",
            "Requests come at times that were fixed beforehand, whether or not those before them were answered, and \
             each is as late as it is against its own time. So a stall counts for every request that it held \
             up, and nothing is hidden by a client that waits. Under p99 and worst one sees what a user sees when a \
             poll takes too long; on Raddle an idle worker takes over what waits behind one for more than a few milliseconds. The \
             generator is itself a thread of this machine; how late it was is in each figure, \
             the same for all. To compute is a fixed number of steps, which take what the names say at 4 GHz and longer \
             on a slower core. Of 2,000 requests in a round, p99.9 is the third worst: take it from many rounds.",
        ),
        Section::Policies => (
            "Raddle's own policies",
            "The same loads under each policy of Raddle's scheduler. Work stealing is the default, and the one to \
             stay with unless one of the others is plainly better for a load like yours.",
        ),
        Section::Scaling => (
            "Operations with up to 256 workers",
            "What the scheduler does to words that its workers share, counted and not timed: workers are stepped on one thread, as \
             if in parallel, on primitives that count. A curve that is level says that a task costs the same operations \
             however many workers there are. A task is one poll; a common word is one that all workers share, or a fixed \
             number of them. docs/scaling.md says what this shows and what it cannot show.",
        ),
        Section::Queue => (
            "The run queue",
            "Boxes passed through the queue that each worker has, beside other queues of that kind. With a thief, the \
             time is how often cache lines go from core to core, and differs from machine to machine more than the \
             queues do.",
        ),
        Section::Timers => (
            "Timers",
            "What it costs to arm, cancel and fire timers, and how late they are. A server with a time limit for each \
             request arms and cancels one a request, and nearly none of them fires.",
        ),
        Section::Sync => (
            "Channels and locks",
            "The same bodies with the primitives of each library, on Raddle and on Tokio as executors. A library's \
             primitives take part in the poll budget of its own runtime only: on Raddle it is Raddle's that stop to let \
             others run, on Tokio it is Tokio's, so that neither executor alone is the fair one.",
        ),
        Section::Sockets => (
            "Sockets",
            "A server in a process of its own that sends back what it gets, under a client that is the same for all. \
             Two thirds of the time is the system's, so the ratios cannot be large. \
             Waits are voluntary context switches of the server's threads.",
        ),
        Section::Http => (
            "Hyper",
            "The same hyper 1 server on Raddle, on Tokio and on async-executor (with the sockets of async-io, as in smol); hyper 0.12 on Tokio 0.1 as the old version; and, as the \
             floor, a loop written by hand without a parser. The kernel's part is the same for all, and hyper's parser is \
             the same for both runtimes, so that what can differ is a small part of a request. \
             Where no rate is named, each connection asks again when it was answered: their p99 says how evenly connections \
             are served under full load, and the latencies at a fixed rate what a user sees. Waits are voluntary \
             context switches of the server's threads.",
        ),
        Section::Sharing => (
            "Shared cores",
            "The same hyper 1 server on Raddle and on Tokio where it does not have the cores to itself. Its client is on \
             them in each case.",
        ),
        Section::Ecosystem => (
            "The ecosystem",
            "The same programs, in the same versions, compiled once against the stand-in and once against Tokio: axum under \
             wrk with 50 connections, tonic under h2load with 8 connections of 16 calls each, and 64 tasks that query \
             PostgreSQL or Redis. Each program that is measured is new in each round; a database serves all of a case.",
        ),
        Section::Memory => (
            "Memory",
            "Resident bytes for each of many, in a process of its own: what a runtime keeps for a task that waits, one \
             that sleeps, and a connection that is idle after its first request. What a timer takes is the difference of the \
             first two.",
        ),
        Section::AsyncCost => (
            "What async costs",
            "The same server as a loop written by hand and as async code on executors of growing comfort.",
        ),
    }
}

/// How a section turned out.
pub(super) fn verdict<'a>(
    comparisons: impl IntoIterator<Item = &'a Comparison> + Clone,
) -> Option<String> {
    let tally = Tally::of(comparisons.clone());
    let middle = tally.middle()?;
    let mut text = format!(
        "Of {} figures that Tokio has too, Raddle is ahead at {}, level at {} and behind at {}; in the middle it is \
         {} times as good.",
        tally.count(),
        tally.ahead,
        tally.level,
        tally.behind,
        short(middle)
    );
    let behind: Vec<_> = comparisons.into_iter().filter_map(behind).collect();
    if !behind.is_empty() {
        let listed = behind.len().min(LISTED);
        text += &format!(" Behind: {}", behind[..listed].join("; "));
        text += &match behind.len() - listed {
            0 => ".".to_owned(),
            more => format!(", and {more} more."),
        };
    }
    Some(text)
}

fn behind(comparison: &Comparison) -> Option<String> {
    let (lead, standing) = comparison.standing()?;
    let tokio = comparison.rival() == Some(crate::record::PEER);
    (tokio && standing == Standing::Behind).then(|| {
        let figure = &comparison.figure;
        format!("{}, {figure} ({})", comparison.name(), short(lead.median))
    })
}
