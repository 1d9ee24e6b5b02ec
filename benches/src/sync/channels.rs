//! Channels for many senders, and one or many receivers.

use std::future::Future;

use crate::executors::{Spawn, all};

use super::{Load, Workload, load};

/// The number of messages of one load.
const MESSAGES: u64 = 40_000;
/// The bound that stands for an unbounded channel.
const UNBOUNDED: usize = 0;

/// A kind of channel.
trait Channel: 'static {
    type Sender: Clone + Send + 'static;
    type Receiver: Send + 'static;

    fn new(bound: usize) -> (Self::Sender, Self::Receiver);
    fn send(sender: &Self::Sender, message: u64) -> impl Future<Output = ()> + Send;
    fn receive(receiver: &mut Self::Receiver) -> impl Future<Output = Option<u64>> + Send;
}

/// Sends all messages from several tasks through one channel, which holds `BOUND` messages.
async fn through<C: Channel, S: Spawn, const BOUND: usize, const SENDERS: u64>(spawner: S) -> u64 {
    let (sender, mut receiver) = C::new(BOUND);
    let tasks: Vec<_> = (0..SENDERS)
        .map(|_| {
            let sender = sender.clone();
            spawner.spawn_joined(async move {
                for number in 1..=MESSAGES / SENDERS {
                    C::send(&sender, number).await;
                }
            })
        })
        .collect();
    drop(sender);
    let mut sum = 0;
    while let Some(number) = C::receive(&mut receiver).await {
        sum += number;
    }
    all(tasks).await;
    let each = MESSAGES / SENDERS;
    assert_eq!(sum, SENDERS * each * (each + 1) / 2);
    MESSAGES
}

/// Sends all messages from several tasks to as many other tasks, each of which receives a part.
async fn spread<C: Channel, S: Spawn, const BOUND: usize, const SIDES: u64>(spawner: S) -> u64
where
    C::Receiver: Clone,
{
    let (sender, receiver) = C::new(BOUND);
    let receives: Vec<_> = (0..SIDES)
        .map(|_| {
            let mut receiver = receiver.clone();
            spawner.spawn_joined(async move {
                while let Some(number) = C::receive(&mut receiver).await {
                    assert!(number <= MESSAGES);
                }
            })
        })
        .collect();
    drop(receiver);
    let sends: Vec<_> = (0..SIDES)
        .map(|_| {
            let sender = sender.clone();
            spawner.spawn_joined(async move {
                for number in 1..=MESSAGES / SIDES {
                    C::send(&sender, number).await;
                }
            })
        })
        .collect();
    drop(sender);
    all(sends).await;
    all(receives).await;
    MESSAGES
}

/// Defines an `mpsc` channel of Tokio's shape.
macro_rules! mpsc {
    ($name:ident, $mpsc:path) => {
        mod $name {
            use $mpsc as mpsc;

            use super::{Channel, UNBOUNDED};

            pub(super) struct Mpsc;

            #[derive(Clone)]
            pub(super) enum Sender {
                Bounded(mpsc::Sender<u64>),
                Unbounded(mpsc::UnboundedSender<u64>),
            }

            pub(super) enum Receiver {
                Bounded(mpsc::Receiver<u64>),
                Unbounded(mpsc::UnboundedReceiver<u64>),
            }

            impl Channel for Mpsc {
                type Sender = Sender;
                type Receiver = Receiver;

                fn new(bound: usize) -> (Sender, Receiver) {
                    if bound == UNBOUNDED {
                        let (sender, receiver) = mpsc::unbounded_channel();
                        return (Sender::Unbounded(sender), Receiver::Unbounded(receiver));
                    }
                    let (sender, receiver) = mpsc::channel(bound);
                    (Sender::Bounded(sender), Receiver::Bounded(receiver))
                }

                async fn send(sender: &Sender, message: u64) {
                    let sent = match sender {
                        Sender::Bounded(sender) => sender.send(message).await,
                        Sender::Unbounded(sender) => sender.send(message),
                    };
                    sent.expect("the receiver is there");
                }

                async fn receive(receiver: &mut Receiver) -> Option<u64> {
                    match receiver {
                        Receiver::Bounded(receiver) => receiver.recv().await,
                        Receiver::Unbounded(receiver) => receiver.recv().await,
                    }
                }
            }
        }
    };
}

mpsc!(ours, raddle::sync::mpsc);
mpsc!(tokios, tokio::sync::mpsc);

/// Defines a channel of a crate for any executor.
macro_rules! channel {
    ($name:ident, $library:ident, $send:ident, $receive:ident) => {
        struct $name;

        impl Channel for $name {
            type Sender = $library::Sender<u64>;
            type Receiver = $library::Receiver<u64>;

            fn new(bound: usize) -> (Self::Sender, Self::Receiver) {
                match bound {
                    UNBOUNDED => $library::unbounded(),
                    _ => $library::bounded(bound),
                }
            }

            async fn send(sender: &Self::Sender, message: u64) {
                let sent = sender.$send(message).await;
                sent.expect("the receiver is there");
            }

            async fn receive(receiver: &mut Self::Receiver) -> Option<u64> {
                receiver.$receive().await.ok()
            }
        }
    };
}

struct Mpmc;

impl Channel for Mpmc {
    type Sender = raddle::sync::mpmc::Sender<u64>;
    type Receiver = raddle::sync::mpmc::Receiver<u64>;

    fn new(bound: usize) -> (Self::Sender, Self::Receiver) {
        match bound {
            UNBOUNDED => raddle::sync::mpmc::unbounded_channel(),
            _ => raddle::sync::mpmc::channel(bound),
        }
    }

    async fn send(sender: &Self::Sender, message: u64) {
        let sent = sender.send(message).await;
        sent.expect("the receiver is there");
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv().await
    }
}

channel!(AsyncChannel, async_channel, send, recv);
channel!(Flume, flume, send_async, recv_async);

/// Lists the same workload with each channel.
fn each<S: Spawn + Sync, const BOUND: usize, const SENDERS: u64>(
    name: &'static str,
) -> Workload<S> {
    let loads: Vec<(_, Load<S>)> = vec![
        ("raddle", load!(through::<ours::Mpsc, S, BOUND, SENDERS>)),
        ("tokio", load!(through::<tokios::Mpsc, S, BOUND, SENDERS>)),
        (
            "async-channel",
            load!(through::<AsyncChannel, S, BOUND, SENDERS>),
        ),
        ("flume", load!(through::<Flume, S, BOUND, SENDERS>)),
        ("raddle mpmc", load!(through::<Mpmc, S, BOUND, SENDERS>)),
    ];
    (name, loads)
}

/// Lists the same workload with each channel that has many receivers.
fn each_mpmc<S: Spawn + Sync, const BOUND: usize, const SIDES: u64>(
    name: &'static str,
) -> Workload<S> {
    let loads: Vec<(_, Load<S>)> = vec![
        ("raddle mpmc", load!(spread::<Mpmc, S, BOUND, SIDES>)),
        (
            "async-channel",
            load!(spread::<AsyncChannel, S, BOUND, SIDES>),
        ),
        ("flume", load!(spread::<Flume, S, BOUND, SIDES>)),
    ];
    (name, loads)
}

pub(super) fn workloads<S: Spawn + Sync>() -> Vec<Workload<S>> {
    vec![
        each::<S, 1, 1>("1 to 1, bound 1"),
        each::<S, 100, 1>("1 to 1, bound 100"),
        each::<S, UNBOUNDED, 1>("1 to 1, unbounded"),
        each::<S, 1, 8>("8 to 1, bound 1"),
        each::<S, 100, 8>("8 to 1, bound 100"),
        each::<S, UNBOUNDED, 8>("8 to 1, unbounded"),
        each_mpmc::<S, 1, 8>("8 to 8, bound 1"),
        each_mpmc::<S, 100, 8>("8 to 8, bound 100"),
        each_mpmc::<S, UNBOUNDED, 8>("8 to 8, unbounded"),
    ]
}
