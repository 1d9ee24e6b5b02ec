//! Local tasks that other threads wake.

use std::cell::Cell;
use std::rc::Rc;
use std::thread;

use raddle::sync::mpsc;
use raddle::task::{LocalSet, spawn_local, yield_now};

use crate::ledger::Ledger;
use crate::random::Random;

pub(crate) fn round(random: &mut Random) {
    let runtime = random.runtime();
    let ledger = Ledger::default();
    let set = LocalSet::new();
    let (tasks, messages) = (random.within(1, 30), random.within(1, 30));
    let sum = Rc::new(Cell::new(0));
    let done = set.block_on(&runtime, async {
        let mut senders = Vec::new();
        let mut joined = Vec::new();
        for _ in 0..tasks {
            let (sender, mut receiver) = mpsc::channel::<usize>(2);
            senders.push(sender);
            let (sum, ticket) = (sum.clone(), ledger.ticket());
            joined.push(spawn_local(async move {
                while let Some(number) = receiver.recv().await {
                    sum.set(sum.get() + number);
                    yield_now().await;
                }
                ticket.done();
            }));
        }
        let thread = thread::spawn(move || {
            for number in 0..messages {
                for sender in &senders {
                    sender.blocking_send(number).unwrap();
                }
            }
        });
        let aborted = random.below(5);
        for _ in 0..aborted {
            let ticket = ledger.ticket();
            let task = spawn_local(async move {
                let _ticket = ticket;
                std::future::pending::<()>().await;
            });
            let abort = task.abort_handle();
            let outside = raddle::task::spawn_blocking(move || abort.abort());
            assert!(task.await.unwrap_err().is_cancelled());
            outside.await.unwrap();
        }
        for task in joined {
            task.await.unwrap();
        }
        thread.join().unwrap();
        // These tasks are dropped with the set.
        for _ in 0..random.below(5) {
            let ticket = ledger.ticket();
            spawn_local(async move {
                let _ticket = ticket;
                yield_now().await;
                std::future::pending::<()>().await;
            });
        }
        ledger.done()
    });
    assert_eq!(done, tasks);
    assert_eq!(sum.get(), tasks * messages * (messages - 1) / 2);
    if random.once_in(2) {
        drop(set);
        drop(runtime);
    } else {
        drop(runtime);
        drop(set);
    }
    ledger.check(tasks);
}
