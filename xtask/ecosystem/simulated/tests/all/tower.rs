//! tower around a service over plain TCP: retries with a backoff, a rate limit and a time limit.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use raddle_sim::Sim;
use simulated::disturb;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use tower::retry::Policy;
use tower::retry::backoff::{
    Backoff, ExponentialBackoff, ExponentialBackoffMaker, MakeBackoff as _,
};
use tower::util::rng::HasherRng;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt as _, service_fn};

const CLIENTS: [&str; 2] = ["alice", "bob"];
const CALLERS: u64 = 4;
const CALLS: u64 = 30;
/// The number of attempts of a client in each `PERIOD`.
const RATE: u64 = 20;
const PERIOD: Duration = Duration::from_secs(1);
const TIME_LIMIT: Duration = Duration::from_millis(400);

/// Replies to each number with its square. Every seventh reply comes too late.
async fn serve() -> io::Result<()> {
    let listener = TcpListener::bind("0.0.0.0:7").await?;
    for accepted in 0_u64.. {
        let (mut tcp, _) = listener.accept().await?;
        tokio::spawn(async move {
            let number = tcp.read_u64().await?;
            if accepted % 7 == 6 {
                sleep(2 * TIME_LIMIT).await;
            }
            tcp.write_u64(number * number).await
        });
    }
    Ok(())
}

async fn square(number: u64) -> io::Result<u64> {
    let mut tcp = TcpStream::connect("server:7").await?;
    tcp.write_u64(number).await?;
    tcp.read_u64().await
}

/// Makes attempts until one succeeds.
#[derive(Clone)]
struct UntilSuccess(ExponentialBackoff);

impl UntilSuccess {
    fn new() -> Self {
        let (least, most) = (Duration::from_millis(20), Duration::from_millis(500));
        let maker = ExponentialBackoffMaker::new(least, most, 0.5, HasherRng::new());
        Self(maker.expect("the times are in order").make_backoff())
    }
}

impl Policy<u64, u64, BoxError> for UntilSuccess {
    type Future = <ExponentialBackoff as Backoff>::Future;

    fn retry(&mut self, _: &mut u64, result: &mut Result<u64, BoxError>) -> Option<Self::Future> {
        result.is_err().then(|| self.0.next_backoff())
    }

    fn clone_request(&mut self, number: &u64) -> Option<u64> {
        Some(*number)
    }
}

/// The times of the attempts that a client has made.
type Attempts = Arc<Mutex<Vec<Instant>>>;

fn service(
    attempts: Attempts,
) -> impl Service<u64, Response = u64, Error = BoxError, Future: Send> + Clone + Send + 'static {
    let attempt = service_fn(move |number| {
        attempts.lock().unwrap().push(Instant::now());
        square(number)
    });
    ServiceBuilder::new()
        .retry(UntilSuccess::new())
        .buffer(8)
        .rate_limit(RATE, PERIOD)
        .timeout(TIME_LIMIT)
        .service(attempt)
}

async fn run_client() {
    let attempts = Attempts::default();
    let service = service(Arc::clone(&attempts));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let mut service = service.clone();
        callers.spawn(async move {
            for number in (0..CALLS).map(|call| caller * CALLS + call) {
                let ready = service.ready().await.unwrap();
                assert_eq!(ready.call(number).await.unwrap(), number * number);
            }
        });
    }
    callers.join_all().await;

    let attempts = attempts.lock().unwrap();
    let fewest = (CALLERS * CALLS) as usize;
    assert!(attempts.len() > fewest, "no attempt has failed");
    // Those of two periods may follow each other at once, but not those of three.
    for many in attempts.windows(2 * RATE as usize + 1) {
        let time = *many.last().unwrap() - many[0];
        assert!(time >= PERIOD, "{} attempts in {time:?}", many.len());
    }
}

fn scenario(sim: &mut Sim) {
    sim.host("server", serve);
    for name in CLIENTS {
        sim.client(name, run_client());
    }
    disturb(sim, &CLIENTS);
}

#[raddle_sim::test(seeds = 4)]
fn all_calls_succeed_within_the_rate(sim: &mut Sim) {
    scenario(sim);
    sim.run();
}

#[test]
fn a_seed_repeats() {
    crate::run_twice(scenario);
}
