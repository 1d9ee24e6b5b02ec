//! The primitives that only Raddle and Tokio have, under the same names.

use std::sync::Arc;

use crate::executors::{Spawn, all};

use super::{Workload, load};

/// The number of operations of a load in which no task waits.
const ALONE: u64 = 100_000;
/// The number of operations of a load in which tasks wait for each other.
const TOGETHER: u64 = 20_000;
/// The number of tasks that contend.
const TASKS: u64 = 8;

/// Runs tasks that use the same object at once.
async fn contend<S: Spawn, T, F>(spawner: S, object: &Arc<T>, task: fn(Arc<T>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let tasks = (0..TASKS).map(|_| spawner.spawn_joined(task(Arc::clone(object))));
    all(tasks.collect()).await;
}

/// Defines the loads with one library. Both libraries use the same names.
macro_rules! library {
    ($library:ident, $sync:path) => {
        pub(super) mod $library {
            use std::sync::Arc;

            use $sync as sync;

            use super::{ALONE, Spawn, TASKS, TOGETHER, contend};
            use crate::executors::all;

            /// Makes a oneshot, sends and receives.
            pub(crate) async fn oneshot<S: Spawn>(_: S) -> u64 {
                for number in 0..ALONE {
                    let (sender, receiver) = sync::oneshot::channel();
                    sender.send(number).expect("the receiver is there");
                    assert_eq!(receiver.await, Ok(number));
                }
                ALONE
            }

            /// A task answers each request with a oneshot.
            pub(crate) async fn oneshot_answer<S: Spawn>(spawner: S) -> u64 {
                let (requests, mut inbox) =
                    sync::mpsc::unbounded_channel::<sync::oneshot::Sender<u64>>();
                let answers = spawner.spawn_joined(async move {
                    while let Some(answer) = inbox.recv().await {
                        answer.send(1).expect("the receiver is there");
                    }
                });
                for _ in 0..TOGETHER {
                    let (sender, receiver) = sync::oneshot::channel();
                    requests.send(sender).expect("the task is there");
                    assert_eq!(receiver.await, Ok(1));
                }
                drop(requests);
                answers.await;
                TOGETHER
            }

            pub(crate) async fn mutex<S: Spawn>(_: S) -> u64 {
                let mutex = sync::Mutex::new(0);
                for _ in 0..ALONE {
                    *mutex.lock().await += 1;
                }
                assert_eq!(mutex.into_inner(), ALONE);
                ALONE
            }

            pub(crate) async fn mutex_contended<S: Spawn>(spawner: S) -> u64 {
                let mutex = Arc::new(sync::Mutex::new(0));
                let task = |mutex: Arc<sync::Mutex<u64>>| async move {
                    for _ in 0..TOGETHER / TASKS {
                        *mutex.lock().await += 1;
                    }
                };
                contend(spawner, &mutex, task).await;
                assert_eq!(*mutex.lock().await, TOGETHER);
                TOGETHER
            }

            pub(crate) async fn read<S: Spawn>(_: S) -> u64 {
                let lock = sync::RwLock::new(1);
                let mut sum = 0;
                for _ in 0..ALONE {
                    sum += *lock.read().await;
                }
                assert_eq!(sum, ALONE);
                ALONE
            }

            pub(crate) async fn write<S: Spawn>(_: S) -> u64 {
                let lock = sync::RwLock::new(0);
                for _ in 0..ALONE {
                    *lock.write().await += 1;
                }
                assert_eq!(lock.into_inner(), ALONE);
                ALONE
            }

            /// Every tenth operation is a write.
            pub(crate) async fn read_write_contended<S: Spawn>(spawner: S) -> u64 {
                let lock = Arc::new(sync::RwLock::new(0));
                let task = |lock: Arc<sync::RwLock<u64>>| async move {
                    for number in 0..TOGETHER / TASKS {
                        match number % 10 {
                            0 => *lock.write().await += 1,
                            _ => assert!(*lock.read().await <= TOGETHER),
                        }
                    }
                };
                contend(spawner, &lock, task).await;
                TOGETHER
            }

            pub(crate) async fn semaphore<S: Spawn>(_: S) -> u64 {
                let semaphore = sync::Semaphore::new(1);
                for _ in 0..ALONE {
                    drop(semaphore.acquire().await.expect("it is open"));
                }
                ALONE
            }

            /// Two permits for eight tasks.
            pub(crate) async fn semaphore_contended<S: Spawn>(spawner: S) -> u64 {
                let semaphore = Arc::new(sync::Semaphore::new(2));
                let task = |semaphore: Arc<sync::Semaphore>| async move {
                    for _ in 0..TOGETHER / TASKS {
                        drop(semaphore.acquire().await.expect("it is open"));
                    }
                };
                contend(spawner, &semaphore, task).await;
                TOGETHER
            }

            /// Two tasks that notify each other by turns.
            pub(crate) async fn notify<S: Spawn>(spawner: S) -> u64 {
                let calls = Arc::new((sync::Notify::new(), sync::Notify::new()));
                let partner = spawner.spawn_joined({
                    let calls = Arc::clone(&calls);
                    async move {
                        for _ in 0..TOGETHER {
                            calls.0.notified().await;
                            calls.1.notify_one();
                        }
                    }
                });
                for _ in 0..TOGETHER {
                    calls.0.notify_one();
                    calls.1.notified().await;
                }
                partner.await;
                TOGETHER
            }

            /// One task changes the value; four tasks read each change that they see.
            pub(crate) async fn watch<S: Spawn>(spawner: S) -> u64 {
                let (sender, receiver) = sync::watch::channel(0);
                let tasks = (0..4).map(|_| {
                    let mut receiver = receiver.clone();
                    spawner.spawn_joined(async move {
                        let mut last = 0;
                        while receiver.changed().await.is_ok() {
                            let value = *receiver.borrow_and_update();
                            assert!(last < value);
                            last = value;
                        }
                        assert_eq!(last, TOGETHER);
                    })
                });
                let tasks = tasks.collect();
                drop(receiver);
                for number in 1..=TOGETHER {
                    sender.send(number).expect("there are receivers");
                    if number % 8 == 0 {
                        futures_lite::future::yield_now().await;
                    }
                }
                drop(sender);
                all(tasks).await;
                TOGETHER
            }

            /// One task sends; four tasks receive every message.
            pub(crate) async fn broadcast<S: Spawn>(spawner: S) -> u64 {
                let (sender, _) = sync::broadcast::channel(TOGETHER as usize);
                let tasks = (0..4).map(|_| {
                    let mut receiver = sender.subscribe();
                    spawner.spawn_joined(async move {
                        let mut received = 0;
                        while let Ok(number) = receiver.recv().await {
                            assert_eq!(number, received);
                            received += 1;
                        }
                        assert_eq!(received, TOGETHER);
                    })
                });
                let tasks = tasks.collect();
                for number in 0..TOGETHER {
                    sender.send(number).expect("there are receivers");
                    if number % 8 == 0 {
                        futures_lite::future::yield_now().await;
                    }
                }
                drop(sender);
                all(tasks).await;
                4 * TOGETHER
            }
        }
    };
}

library!(ours, raddle::sync);
library!(tokios, tokio::sync);

/// Lists the same workload with both libraries.
macro_rules! both {
    ($name:literal, $load:ident) => {
        (
            $name,
            vec![
                ("raddle", load!(ours::$load)),
                ("tokio", load!(tokios::$load)),
            ],
        )
    };
}

pub(super) fn workloads<S: Spawn + Sync>() -> Vec<Workload<S>> {
    vec![
        both!("oneshot", oneshot),
        both!("oneshot answer", oneshot_answer),
        both!("mutex", mutex),
        both!("mutex contended", mutex_contended),
        both!("rwlock read", read),
        both!("rwlock write", write),
        both!("rwlock contended", read_write_contended),
        both!("semaphore", semaphore),
        both!("semaphore contended", semaphore_contended),
        both!("notify", notify),
        both!("watch", watch),
        both!("broadcast", broadcast),
    ]
}
