//! Tokio's tools that observe a program: tokio-console, through its protocol, and tokio-metrics.
//! They need their own program, because the subscriber is global to the process.
#![forbid(unsafe_code)]

use std::collections::{HashMap, HashSet};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use console_api::instrument::InstrumentRequest;
use console_api::instrument::instrument_client::InstrumentClient;
use console_subscriber::ConsoleLayer;
use tokio::sync::{Mutex, Notify, Semaphore, oneshot};
use tokio::time::{sleep, timeout};
use tokio_metrics::{RuntimeMonitor, TaskMonitor};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// What the console has received about one task.
#[derive(Debug, Default)]
struct Seen {
    polls: u64,
    wakes: u64,
    self_wakes: u64,
    has_ended: bool,
}

/// What the console has received.
#[derive(Debug, Default)]
struct Console {
    /// The ids of the tasks that were spawned in this file, by line.
    tasks: HashMap<u64, u32>,
    stats: HashMap<u64, Seen>,
    /// The types of the resources that were created in this file.
    resources: HashSet<String>,
}

fn free_address() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap()
}

fn is_here(location: Option<&console_api::Location>) -> bool {
    location.is_some_and(|location| location.file().ends_with("tools.rs"))
}

impl Console {
    fn update(&mut self, update: console_api::instrument::Update) {
        if let Some(tasks) = update.task_update {
            for task in tasks.new_tasks {
                if is_here(task.location.as_ref()) {
                    let line = task.location.unwrap().line();
                    self.tasks.insert(task.id.unwrap().id, line);
                }
            }
            for (id, stats) in tasks.stats_update {
                let polls = stats.poll_stats.map_or(0, |polls| polls.polls);
                self.stats.insert(
                    id,
                    Seen {
                        polls,
                        wakes: stats.wakes,
                        self_wakes: stats.self_wakes,
                        has_ended: stats.dropped_at.is_some(),
                    },
                );
            }
        }
        for resource in update
            .resource_update
            .iter()
            .flat_map(|update| &update.new_resources)
        {
            if is_here(resource.location.as_ref()) {
                self.resources.insert(resource.concrete_type.clone());
            }
        }
    }

    /// Returns the task that was spawned at this line, once the console has received it.
    fn task(&self, line: u32) -> Option<&Seen> {
        let (id, _) = self.tasks.iter().find(|(_, at)| **at == line)?;
        self.stats.get(id)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokio_console_shows_tasks_polls_wakes_and_resources() {
    let address = free_address();
    let layer = ConsoleLayer::builder()
        .server_addr(address)
        .publish_interval(Duration::from_millis(50))
        .spawn();
    tracing_subscriber::registry().with(layer).init();

    let mutex = Arc::new(Mutex::new(0));
    let semaphore = Arc::new(Semaphore::new(1));
    let stop = Arc::new(Notify::new());
    let (asleep, yielding, waiting) = (line!() + 2, line!() + 8, line!() + 14);
    let (mutex2, semaphore2) = (mutex.clone(), semaphore.clone());
    let first = tokio::spawn(async move {
        for _ in 0..5 {
            sleep(Duration::from_millis(1)).await;
            *mutex2.lock().await += 1;
        }
    });
    let second = tokio::spawn(async move {
        for _ in 0..7 {
            tokio::task::yield_now().await;
        }
    });
    let stopped = stop.clone();
    let third = tokio::spawn(async move {
        let _permit = semaphore2.acquire().await.unwrap();
        stopped.notified().await;
    });
    let (_sender, _receiver) = oneshot::channel::<()>();
    first.await.unwrap();
    second.await.unwrap();

    let console = timeout(Duration::from_secs(30), async {
        let mut client = loop {
            match InstrumentClient::connect(format!("http://{address}")).await {
                Ok(client) => break client,
                Err(_) => sleep(Duration::from_millis(20)).await,
            }
        };
        let mut updates = client
            .watch_updates(InstrumentRequest {})
            .await
            .unwrap()
            .into_inner();
        let mut console = Console::default();
        loop {
            console.update(updates.message().await.unwrap().unwrap());
            let tasks = [asleep, yielding, waiting].map(|line| console.task(line).is_some());
            if tasks == [true; 3] && console.resources.len() >= 4 {
                break console;
            }
        }
    })
    .await
    .expect("the console has shown everything within half a minute");

    let seen = |line| console.task(line).unwrap();
    assert!(
        seen(asleep).has_ended && seen(asleep).wakes >= 5,
        "{console:?}"
    );
    assert!(seen(asleep).polls >= 6, "{console:?}");
    assert_eq!(
        (seen(yielding).wakes, seen(yielding).self_wakes),
        (7, 7),
        "{console:?}"
    );
    // The drop of the future also enters the span, as on Tokio.
    assert_eq!(seen(yielding).polls, 8 + 1, "{console:?}");
    assert!(
        !seen(waiting).has_ended && seen(waiting).polls == 1,
        "{console:?}"
    );
    for resource in ["Mutex", "Semaphore", "Sleep", "Sender|Receiver"] {
        assert!(console.resources.contains(resource), "{console:?}");
    }
    stop.notify_one();
    third.await.unwrap();
    assert_eq!(*mutex.lock().await, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokio_metrics_measures_tasks_and_the_runtime() {
    let runtime = RuntimeMonitor::new(&tokio::runtime::Handle::current());
    let mut intervals = runtime.intervals();
    let tasks = TaskMonitor::new();
    for _ in 0..10 {
        let task = tasks.instrument(async {
            tokio::task::yield_now().await;
            sleep(Duration::from_millis(1)).await;
        });
        tokio::spawn(task).await.unwrap();
    }
    let measured = tasks.cumulative();
    assert_eq!(measured.instrumented_count, 10);
    assert_eq!(measured.dropped_count, 10);
    assert!(measured.total_poll_count >= 30, "{measured:?}");
    assert!(
        measured.total_idle_duration >= Duration::from_millis(10),
        "{measured:?}"
    );
    let interval = intervals.next().unwrap();
    assert_eq!(interval.workers_count, 2);
    assert!(
        interval.total_busy_duration > Duration::ZERO,
        "{interval:?}"
    );
    assert!(interval.total_park_count > 0, "{interval:?}");
}
