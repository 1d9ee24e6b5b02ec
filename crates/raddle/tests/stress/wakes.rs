//! Wakes by other threads, and wakes that race with timeouts.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use raddle::sync::{Notify, oneshot};
use raddle::task::JoinSet;
use raddle::time::timeout;

use crate::ledger::Ledger;
use crate::random::Random;

/// A token goes round rings of tasks, some of which wake each other through other threads. If a
/// wake is lost, the token stops.
pub(crate) fn rings(random: &mut Random) {
    let runtime = random.runtime();
    let ledger = Ledger::default();
    let (rounds, size) = (random.within(50, 300), random.within(1, 6));
    let mut tasks = JoinSet::new();
    let (hop, hops) = mpsc::channel::<Arc<Notify>>();
    let ferry = thread::spawn(move || hops.iter().for_each(|next| next.notify_one()));
    let mut expected = 0;
    for _ in 0..random.within(1, 4) {
        let ring: Vec<_> = (0..size).map(|_| Arc::new(Notify::new())).collect();
        for place in 0..size {
            let (own, next) = (ring[place].clone(), ring[(place + 1) % size].clone());
            let (ticket, hop) = (ledger.ticket(), hop.clone());
            let remote = random.once_in(2);
            expected += 1;
            let task = async move {
                for _ in 0..rounds {
                    own.notified().await;
                    if remote {
                        hop.send(next.clone()).unwrap();
                    } else {
                        next.notify_one();
                    }
                }
                ticket.done();
            };
            tasks.spawn_on(task, runtime.handle());
        }
        ring[0].notify_one();
    }
    drop(hop);
    runtime.block_on(async {
        while let Some(joined) = tasks.join_next().await {
            joined.unwrap();
        }
    });
    ferry.join().unwrap();
    drop(runtime);
    ledger.check(expected);
}

/// tokio 525: two tasks exchange messages over channels of capacity one, and every wait has a
/// timeout of about the same length. Each message is received, sooner or later.
pub(crate) fn time_outs(random: &mut Random) {
    let runtime = random.runtime();
    let ledger = Ledger::default();
    let pairs = random.within(1, 4);
    let rounds = random.within(50, 200);
    let mut tasks = JoinSet::new();
    for _ in 0..pairs {
        let (there, mut requests) =
            raddle::sync::mpsc::unbounded_channel::<(usize, oneshot::Sender<usize>)>();
        let (asker, answerer) = (ledger.ticket(), ledger.ticket());
        let mut theirs = random.split();
        let answering = async move {
            let mut answered = 0;
            while let Some((number, answer)) = requests.recv().await {
                if theirs.once_in(4) {
                    raddle::time::sleep(theirs.micros(1500)).await;
                }
                answer.send(number + 1).unwrap();
                answered += 1;
            }
            assert_eq!(answered, rounds);
            answerer.done();
        };
        let mut ours = random.split();
        let asking = async move {
            for number in 0..rounds {
                let (answer, mut answered) = oneshot::channel();
                there.send((number, answer)).unwrap();
                let received = loop {
                    let limit = Duration::from_micros(ours.below(2000) as u64);
                    if let Ok(received) = timeout(limit, &mut answered).await {
                        break received;
                    }
                };
                assert_eq!(received, Ok(number + 1));
            }
            asker.done();
        };
        tasks.spawn_on(answering, runtime.handle());
        tasks.spawn_on(asking, runtime.handle());
    }
    runtime.block_on(async {
        while let Some(joined) = tasks.join_next().await {
            joined.unwrap();
        }
    });
    drop(runtime);
    ledger.check(2 * pairs);
}
