//! Channels for many senders and one receiver.

use std::future::Future;

use crate::executors::Spawn;

use super::{Workload, all, load};

/// Messages of one load.
const MESSAGES: u64 = 40_000;
/// The senders, if there are many.
const SENDERS: u64 = 8;

/// How many messages a channel holds.
#[derive(Clone, Copy)]
enum Bound {
    One,
    Hundred,
    None,
}

/// A kind of channel.
trait Channel: 'static {
    type Sender: Clone + Send + 'static;
    type Receiver: Send + 'static;

    fn new(bound: Bound) -> (Self::Sender, Self::Receiver);
    fn send(sender: &Self::Sender, message: u64) -> impl Future<Output = ()> + Send;
    fn receive(receiver: &mut Self::Receiver) -> impl Future<Output = Option<u64>> + Send;
}

/// Sends through one channel everything from `senders` tasks.
async fn through<C: Channel, S: Spawn>(spawner: S, bound: Bound, senders: u64) -> u64 {
    let (sender, mut receiver) = C::new(bound);
    let tasks: Vec<_> = (0..senders)
        .map(|_| {
            let sender = sender.clone();
            spawner.spawn_joined(async move {
                for number in 1..=MESSAGES / senders {
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
    let each = MESSAGES / senders;
    assert_eq!(sum, senders * each * (each + 1) / 2);
    MESSAGES
}

async fn one_to_one_1<C: Channel, S: Spawn>(spawner: S) -> u64 {
    through::<C, S>(spawner, Bound::One, 1).await
}

async fn one_to_one_100<C: Channel, S: Spawn>(spawner: S) -> u64 {
    through::<C, S>(spawner, Bound::Hundred, 1).await
}

async fn one_to_one_unbounded<C: Channel, S: Spawn>(spawner: S) -> u64 {
    through::<C, S>(spawner, Bound::None, 1).await
}

async fn many_to_one_1<C: Channel, S: Spawn>(spawner: S) -> u64 {
    through::<C, S>(spawner, Bound::One, SENDERS).await
}

async fn many_to_one_100<C: Channel, S: Spawn>(spawner: S) -> u64 {
    through::<C, S>(spawner, Bound::Hundred, SENDERS).await
}

async fn many_to_one_unbounded<C: Channel, S: Spawn>(spawner: S) -> u64 {
    through::<C, S>(spawner, Bound::None, SENDERS).await
}

/// A `mpsc` in Tokio's shape.
macro_rules! mpsc {
    ($name:ident, $mpsc:path) => {
        mod $name {
            use $mpsc as mpsc;

            use super::{Bound, Channel};

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

                fn new(bound: Bound) -> (Sender, Receiver) {
                    let capacity = match bound {
                        Bound::One => 1,
                        Bound::Hundred => 100,
                        Bound::None => {
                            let (sender, receiver) = mpsc::unbounded_channel();
                            return (Sender::Unbounded(sender), Receiver::Unbounded(receiver));
                        }
                    };
                    let (sender, receiver) = mpsc::channel(capacity);
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

struct AsyncChannel;

impl Channel for AsyncChannel {
    type Sender = async_channel::Sender<u64>;
    type Receiver = async_channel::Receiver<u64>;

    fn new(bound: Bound) -> (Self::Sender, Self::Receiver) {
        match bound {
            Bound::One => async_channel::bounded(1),
            Bound::Hundred => async_channel::bounded(100),
            Bound::None => async_channel::unbounded(),
        }
    }

    async fn send(sender: &Self::Sender, message: u64) {
        let sent = sender.send(message).await;
        sent.expect("the receiver is there");
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv().await.ok()
    }
}

struct Flume;

impl Channel for Flume {
    type Sender = flume::Sender<u64>;
    type Receiver = flume::Receiver<u64>;

    fn new(bound: Bound) -> (Self::Sender, Self::Receiver) {
        match bound {
            Bound::One => flume::bounded(1),
            Bound::Hundred => flume::bounded(100),
            Bound::None => flume::unbounded(),
        }
    }

    async fn send(sender: &Self::Sender, message: u64) {
        let sent = sender.send_async(message).await;
        sent.expect("the receiver is there");
    }

    async fn receive(receiver: &mut Self::Receiver) -> Option<u64> {
        receiver.recv_async().await.ok()
    }
}

/// The same workload with each kind.
macro_rules! each {
    ($name:literal, $load:ident) => {
        Workload {
            name: $name,
            loads: vec![
                ("raddle", load!($load::<ours::Mpsc, S>)),
                ("tokio", load!($load::<tokios::Mpsc, S>)),
                ("async-channel", load!($load::<AsyncChannel, S>)),
                ("flume", load!($load::<Flume, S>)),
            ],
        }
    };
}

pub(super) fn workloads<S: Spawn + Sync>() -> Vec<Workload<S>> {
    vec![
        each!("1 to 1, bound 1", one_to_one_1),
        each!("1 to 1, bound 100", one_to_one_100),
        each!("1 to 1, unbounded", one_to_one_unbounded),
        each!("8 to 1, bound 1", many_to_one_1),
        each!("8 to 1, bound 100", many_to_one_100),
        each!("8 to 1, unbounded", many_to_one_unbounded),
    ]
}
