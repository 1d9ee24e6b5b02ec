//! Measures timers of Raddle and of Tokio in turn, round by round, in one process. A comparison may
//! quote these figures.
#![forbid(unsafe_code)]

use std::future::{Future, poll_fn};
use std::io::Result;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use clap::Parser as _;
use raddle_benches::executors::{Raddle, Tokio};
use raddle_benches::ready;
use raddle_benches::record::{Case, Figure, Section};
use raddle_benches::sheet::{Options, Sheet, in_micros, micros};
use raddle_benches::timing::{Timing, on_worker, processor_time, sleep_all};

const SLEEPS: usize = 100_000;
const MANY: u32 = 1_000_000;
const PERIOD: Duration = Duration::from_millis(10);
const HOUR: Duration = Duration::from_secs(3600);

/// The titles of the workloads, and their figures.
#[rustfmt::skip]
const WORKLOADS: [(&str, &[Figure]); 4] = [
    ("100,000 sleeps of 50 to 150 ms", &[Figure::less("CPU", "ms"), Figure::less("worst lateness", "ms")]),
    ("timers that do not fire", &[
        Figure::less("arm and cancel, alone", "ns"),
        Figure::less("arm, up to 1,000,000", "ns"),
        Figure::less("cancel, of 1,000,000", "ns"),
    ]),
    ("a time limit for what is ready", &[Figure::less("time", "ns")]),
    ("one interval of 10 ms for 3 s", &[Figure::less("CPU", "ms")]),
];

/// Runs one of the [`WORKLOADS`].
fn run<T: Timing>(runtime: &T, workload: usize) -> Vec<f64> {
    match workload {
        0 => {
            let (spent, worst) = sleep_all(runtime, SLEEPS, Duration::from_millis(50));
            vec![in_micros(spent) / 1e3, in_micros(worst) / 1e3]
        }
        1 => arm(runtime),
        2 => limit(runtime),
        _ => interval(runtime),
    }
}

/// Measures timers that are set and do not fire.
fn arm<T: Timing>(runtime: &T) -> Vec<f64> {
    on_worker(runtime, async move {
        let start = Instant::now();
        for _ in 0..MANY {
            set(&mut [Box::pin(T::sleep(HOUR))]).await;
        }
        let alone = start.elapsed();
        let spread = |number| HOUR + Duration::from_millis(u64::from(number % 100_000));
        let timers = (0..MANY).map(|number| Box::pin(T::sleep(spread(number))));
        let mut timers: Vec<_> = timers.collect();
        let start = Instant::now();
        set(&mut timers).await;
        let armed = start.elapsed();
        let start = Instant::now();
        drop(timers);
        let cancelled = start.elapsed();
        let figure = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(MANY);
        [alone, armed, cancelled].map(figure).into()
    })
}

/// Polls each timer once.
async fn set<S: Future<Output = ()>>(timers: &mut [Pin<Box<S>>]) {
    poll_fn(|cx| {
        for timer in &mut *timers {
            assert!(timer.as_mut().poll(cx).is_pending());
        }
        Poll::Ready(())
    })
    .await;
}

fn limit<T: Timing>(runtime: &T) -> Vec<f64> {
    let micros = micros(|| {
        on_worker(runtime, async {
            for _ in 0..MANY {
                T::limit_ready(HOUR).await;
            }
        });
    });
    vec![micros * 1e3 / f64::from(MANY)]
}

fn interval<T: Timing>(runtime: &T) -> Vec<f64> {
    let before = processor_time();
    on_worker(runtime, T::tick(PERIOD, 300));
    vec![in_micros(processor_time() - before) / 1e3]
}

fn main() -> Result<()> {
    let options = Options::parse();
    let mut sheet = Sheet::new(Section::Timers, &options);
    for workers in options.workers(&[2]) {
        let contestants = ready!(
            workers, |runtime, workload: usize| run(&runtime, workload);
            Raddle, Tokio
        );
        for (workload, (title, figures)) in WORKLOADS.iter().enumerate() {
            sheet.compare(&Case::new(title), figures, &contestants, workload);
        }
    }
    sheet.finish()
}
