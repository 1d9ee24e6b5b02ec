//! Messages with tickets: each is received once, returned to its sender, or dropped with its
//! channel.

use std::sync::Arc;
use std::thread;

use raddle::sync::{Semaphore, broadcast, mpsc, watch};
use raddle::task::{JoinSet, yield_now};
use raddle::time::timeout;

use crate::ledger::{Ledger, Ticket};
use crate::random::Random;

pub(crate) fn round(random: &mut Random) {
    let runtime = random.runtime();
    let ledger = Ledger::default();
    let messages = Ledger::default();
    let mut tasks = JoinSet::new();
    let mut count = 0;
    for _ in 0..random.within(1, 3) {
        let all = [bounded, unbounded, shared];
        let part = all[random.below(all.len())];
        count += part(&mut tasks, &runtime, &ledger, &messages, random);
    }
    runtime.block_on(async {
        while let Some(joined) = tasks.join_next().await {
            joined.unwrap();
        }
    });
    drop(runtime);
    ledger.check(count);
    // Threads whose sends failed may not have exited yet.
    messages.await_returned();
}

type Tasks = JoinSet<()>;

/// Senders that drop a pending send, and a receiver that may close the channel.
fn bounded(
    tasks: &mut Tasks,
    runtime: &raddle::runtime::Runtime,
    ledger: &Ledger,
    messages: &Ledger,
    random: &mut Random,
) -> usize {
    let senders = random.within(1, 5);
    let (sender, mut receiver) = mpsc::channel::<Ticket>(random.within(1, 4));
    for _ in 0..senders {
        let (sender, ticket, messages) = (sender.clone(), ledger.ticket(), messages.clone());
        let mut random = random.split();
        let task = async move {
            for _ in 0..random.within(1, 100) {
                let message = messages.ticket();
                match random.below(4) {
                    0 => drop(sender.try_send(message)),
                    1 => drop(timeout(random.micros(200), sender.send(message)).await),
                    2 => {
                        if let Ok(permit) = sender.reserve().await {
                            yield_now().await;
                            permit.send(message);
                        }
                    }
                    _ => drop(sender.send(message).await),
                }
            }
            ticket.done();
        };
        tasks.spawn_on(task, runtime.handle());
    }
    drop(sender);
    let ticket = ledger.ticket();
    let closes = random.once_in(3).then(|| random.below(50));
    let mut random = random.split();
    let receiving = async move {
        let mut received = 0;
        loop {
            if closes == Some(received) {
                receiver.close();
            }
            let message = match random.once_in(4) {
                true => match timeout(random.micros(100), receiver.recv()).await {
                    Ok(message) => message,
                    Err(_) => continue,
                },
                false => receiver.recv().await,
            };
            match message {
                Some(message) => message.done(),
                None => break,
            }
            received += 1;
        }
        ticket.done();
    };
    tasks.spawn_on(receiving, runtime.handle());
    senders + 1
}

/// Senders in tasks and threads; the receiver receives all messages or is dropped early.
fn unbounded(
    tasks: &mut Tasks,
    runtime: &raddle::runtime::Runtime,
    ledger: &Ledger,
    messages: &Ledger,
    random: &mut Random,
) -> usize {
    let (sender, mut receiver) = mpsc::unbounded_channel::<(usize, usize, Ticket)>();
    let (senders, each) = (random.within(1, 4), random.within(1, 300));
    for who in 0..senders {
        let (sender, messages) = (sender.clone(), messages.clone());
        let send = move || {
            for number in 0..each {
                if sender.send((who, number, messages.ticket())).is_err() {
                    break;
                }
            }
        };
        if random.once_in(2) {
            drop(thread::spawn(send));
        } else {
            tasks.spawn_on(async move { send() }, runtime.handle());
        }
    }
    drop(sender);
    let ticket = ledger.ticket();
    let early = random.once_in(3).then(|| random.below(senders * each));
    let receiving = async move {
        let mut next = vec![0; senders];
        let mut received = 0;
        while Some(received) != early {
            let Some((who, number, message)) = receiver.recv().await else {
                break;
            };
            assert_eq!(number, next[who], "a message is lost, or out of order");
            next[who] += 1;
            received += 1;
            message.done();
        }
        if early.is_none() {
            assert_eq!(received, senders * each);
        }
        ticket.done();
        // From here on, sends of threads fail and return their messages.
        drop(receiver);
    };
    tasks.spawn_on(receiving, runtime.handle());
    1
}

/// Values for many receivers, and a semaphore some of whose waiters give up.
fn shared(
    tasks: &mut Tasks,
    runtime: &raddle::runtime::Runtime,
    ledger: &Ledger,
    messages: &Ledger,
    random: &mut Random,
) -> usize {
    let values = random.within(1, 200);
    let receivers = random.within(1, 4);
    let (sender, first) = broadcast::channel::<(usize, Arc<Ticket>)>(random.within(1, 16));
    let (latest, seen) = watch::channel(0_usize);
    let permits = Arc::new(Semaphore::new(random.within(1, 3)));
    let available = permits.available_permits();
    for _ in 0..receivers {
        let (mut receiver, mut seen) = (first.resubscribe(), seen.clone());
        let (permits, ticket) = (permits.clone(), ledger.ticket());
        let mut random = random.split();
        let task = async move {
            let mut next = 0;
            loop {
                if let Ok(Ok(permit)) = timeout(random.micros(100), permits.acquire()).await {
                    yield_now().await;
                    drop(permit);
                }
                match receiver.recv().await {
                    Ok((number, _)) => {
                        assert_eq!(number, next, "a value is lost");
                        next = number + 1;
                    }
                    Err(broadcast::error::RecvError::Lagged(missed)) => next += missed as usize,
                    Err(broadcast::error::RecvError::Closed) => break,
                }
            }
            assert_eq!(next, values);
            while *seen.borrow_and_update() < values {
                seen.changed().await.unwrap();
            }
            ticket.done();
        };
        tasks.spawn_on(task, runtime.handle());
    }
    drop(first);
    let (ticket, messages) = (ledger.ticket(), messages.clone());
    let mut random = random.split();
    let sending = async move {
        for number in 0..values {
            // An error only if all receivers were dropped, and they are not.
            assert!(sender.send((number, Arc::new(messages.ticket()))).is_ok());
            latest.send(number + 1).unwrap();
            if random.once_in(8) {
                yield_now().await;
            }
        }
        drop(sender);
        latest.closed().await;
        assert_eq!(permits.available_permits(), available, "a permit is lost");
        ticket.done();
    };
    tasks.spawn_on(sending, runtime.handle());
    drop(seen);
    receivers + 1
}
