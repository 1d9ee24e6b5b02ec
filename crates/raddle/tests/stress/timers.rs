//! Timers that are set, reset, polled and dropped by tasks on changing threads.

use std::pin::{Pin, pin};
use std::time::Duration;

use raddle::sync::mpsc;
use raddle::task::{JoinSet, yield_now};
use raddle::time::{Instant, Sleep, interval, sleep, timeout};

use crate::ledger::Ledger;
use crate::random::Random;

pub(crate) fn round(random: &mut Random) {
    let runtime = random.runtime();
    let ledger = Ledger::default();
    let mut tasks = JoinSet::new();
    // Tasks pass running timers to each other.
    let (give, mut taken) = mpsc::unbounded_channel::<Pin<Box<Sleep>>>();
    let count = random.within(1, 60);
    for _ in 0..count {
        let (ticket, give) = (ledger.ticket(), give.clone());
        let mut random = random.split();
        let task = async move {
            for _ in 0..random.within(1, 10) {
                step(&mut random, &give).await;
            }
            ticket.done();
        };
        tasks.spawn_on(task, runtime.handle());
    }
    drop(give);
    let ticket = ledger.ticket();
    let mut theirs = random.split();
    let receiver = async move {
        while let Some(mut given) = taken.recv().await {
            match theirs.below(4) {
                0 => drop(given),
                1 => {
                    given.as_mut().reset(Instant::now() + theirs.micros(2000));
                    awaited(given.as_mut()).await;
                }
                _ => awaited(given.as_mut()).await,
            }
        }
        ticket.done();
    };
    tasks.spawn_on(receiver, runtime.handle());
    runtime.block_on(async {
        while let Some(joined) = tasks.join_next().await {
            joined.unwrap();
        }
    });
    drop(runtime);
    ledger.check(count + 1);
}

/// Awaits a timer, which must not be early.
async fn awaited(mut timer: Pin<&mut Sleep>) {
    timer.as_mut().await;
    assert!(timer.deadline() <= Instant::now(), "a timer is early");
}

async fn step(random: &mut Random, give: &mpsc::UnboundedSender<Pin<Box<Sleep>>>) {
    let short = random.micros(3000);
    match random.below(7) {
        0 => awaited(pin!(sleep(short))).await,
        1 => {
            let mut timer = pin!(sleep(Duration::from_secs(60)));
            let _ = timeout(short, timer.as_mut()).await.unwrap_err();
            timer.as_mut().reset(Instant::now() + short);
            awaited(timer).await;
        }
        2 => {
            let mut timer = Box::pin(sleep(short));
            let _ = timeout(Duration::ZERO, timer.as_mut()).await;
            give.send(timer).unwrap();
        }
        3 => {
            let mut ticks = interval(short.max(Duration::from_micros(1)));
            for _ in 0..3 {
                ticks.tick().await;
            }
        }
        4 => {
            // The timer is dropped shortly before its deadline.
            let timer = sleep(Duration::from_millis(1));
            let _ = timeout(Duration::from_micros(900), timer).await;
        }
        5 => yield_now().await,
        _ => {
            let mut many: Vec<_> = (0..random.within(1, 40))
                .map(|_| Box::pin(sleep(random.micros(3000))))
                .collect();
            while !many.is_empty() {
                let mut timer = many.swap_remove(random.below(many.len()));
                if random.once_in(3) {
                    timer.as_mut().reset(Instant::now() + random.micros(1000));
                }
                if random.once_in(2) {
                    awaited(timer.as_mut()).await;
                }
            }
        }
    }
}
