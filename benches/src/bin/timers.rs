//! Measures timers of Raddle and of Tokio in turn, round by round, in one process. A comparison may
//! quote these figures.
#![forbid(unsafe_code)]

use std::future::{Future, poll_fn};
use std::io::Result;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use raddle_benches::executors::{Raddle, Tokio};
use raddle_benches::ready;
use raddle_benches::record::Section;
use raddle_benches::sheet::{Case, Figure, Options, Sheet};
use raddle_benches::timing::{Timing, on_worker, processor_time, sleep_all};

const SLEEPS: usize = 100_000;
const LIMITS: u32 = 1_000_000;
const PERIOD: Duration = Duration::from_millis(10);
const HOUR: Duration = Duration::from_secs(3600);

#[derive(Parser)]
#[command(about = "Runs each workload of timers on Raddle and on Tokio in turn")]
struct Args {
    /// The number of worker threads
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,

    /// Measure only these workloads, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<Workload>,

    #[command(flatten)]
    options: Options,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Workload {
    /// 100,000 sleeps of 50 to 150 ms
    Sleeps,
    /// Arming and cancelling, with few and with a million timers set
    Arm,
    /// A time limit for what is ready
    Limit,
    /// One interval of 10 ms for 3 s
    Interval,
}

impl Workload {
    fn run<T: Timing>(self, runtime: &T) -> Vec<f64> {
        match self {
            Self::Sleeps => {
                let (spent, worst) = sleep_all(runtime, SLEEPS, Duration::from_millis(50));
                [spent, worst].map(|time| time.as_secs_f64() * 1e3).into()
            }
            Self::Arm => arm(runtime),
            Self::Limit => limit(runtime),
            Self::Interval => interval(runtime),
        }
    }

    /// Returns the title and the figures.
    fn about(self) -> (&'static str, Vec<Figure>) {
        match self {
            Self::Sleeps => (
                "100,000 sleeps of 50 to 150 ms",
                vec![
                    Figure::less("CPU", "ms"),
                    Figure::less("worst lateness", "ms"),
                ],
            ),
            Self::Arm => (
                "timers that do not fire",
                vec![
                    Figure::less("arm and cancel, alone", "ns"),
                    Figure::less("arm, up to 1,000,000", "ns"),
                    Figure::less("cancel, of 1,000,000", "ns"),
                ],
            ),
            Self::Limit => (
                "a time limit for what is ready",
                vec![Figure::less("time", "ns")],
            ),
            Self::Interval => (
                "one interval of 10 ms for 3 s",
                vec![Figure::less("CPU", "ms")],
            ),
        }
    }
}

/// Measures timers that are set and do not fire.
fn arm<T: Timing>(runtime: &T) -> Vec<f64> {
    const MANY: u32 = 1_000_000;
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
    let start = Instant::now();
    on_worker(runtime, async {
        for _ in 0..LIMITS {
            T::limit_ready(HOUR).await;
        }
    });
    vec![start.elapsed().as_secs_f64() * 1e9 / f64::from(LIMITS)]
}

fn interval<T: Timing>(runtime: &T) -> Vec<f64> {
    let before = processor_time();
    on_worker(runtime, T::tick(PERIOD, 300));
    vec![(processor_time() - before).as_secs_f64() * 1e3]
}

fn main() -> Result<()> {
    let args = Args::parse();
    let contestants = ready!(
        args.workers.into(), |runtime, workload: Workload| workload.run(&runtime);
        Raddle, Tokio
    );
    let mut sheet = Sheet::new(Section::Timers, &args.options);
    for &workload in Workload::value_variants() {
        if args.only.is_empty() || args.only.contains(&workload) {
            let (title, figures) = workload.about();
            sheet.compare(&Case::new(title), &figures, &contestants, |run| {
                Ok(run(workload))
            })?;
        }
    }
    sheet.finish()
}
