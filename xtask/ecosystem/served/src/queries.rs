//! Tasks that query a database through the connections of a client. Each sends its next query when
//! the last is answered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use sqlx::postgres::PgPoolOptions;
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio_postgres::NoTls;

/// The number of tasks that share the connections.
const TASKS: usize = 64;

static IS_STOPPED: AtomicBool = AtomicBool::new(false);

/// Connects `client` to the database at `address`, prints that address, and queries until the
/// standard input ends. Then it prints to standard error the number of queries per second, and the
/// number of parks of the workers per query.
pub async fn run(client: &str, address: &str, connections: usize, query: &'static str) {
    let url = format!("postgres://postgres@{address}/postgres");
    let mut tasks = JoinSet::new();
    match client {
        "sqlx" => {
            // Without the test of a connection, each query is one message and its answer.
            let options = PgPoolOptions::new()
                .max_connections(connections as u32)
                .test_before_acquire(false);
            let pool = options.connect(&url).await.expect("the server runs");
            for _ in 0..TASKS {
                let pool = pool.clone();
                spawn(&mut tasks, move || {
                    let pool = pool.clone();
                    async move { drop(sqlx::query(query).fetch_one(&pool).await.unwrap()) }
                });
            }
        }
        "tokio-postgres" => {
            for _ in 0..connections {
                let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
                tokio::spawn(connection);
                let client = std::sync::Arc::new(client);
                for _ in 0..TASKS / connections {
                    let client = client.clone();
                    spawn(&mut tasks, move || {
                        let client = client.clone();
                        async move { drop(client.simple_query(query).await.unwrap()) }
                    });
                }
            }
        }
        "redis" => {
            let client = redis::Client::open(format!("redis://{address}/")).unwrap();
            for _ in 0..connections {
                let connection = client.get_multiplexed_async_connection().await.unwrap();
                for _ in 0..TASKS / connections {
                    let connection = connection.clone();
                    spawn(&mut tasks, move || {
                        let mut connection = connection.clone();
                        async move { redis::cmd(query).exec_async(&mut connection).await.unwrap() }
                    });
                }
            }
        }
        other => panic!("there is no client {other}"),
    }
    println!("{address}");
    let (start, parks) = (Instant::now(), parks());
    super::end_of_input().await;
    IS_STOPPED.store(true, Ordering::Relaxed);
    let elapsed = start.elapsed().as_secs_f64();
    let parks = self::parks() - parks;
    let queries: u64 = tasks.join_all().await.iter().sum();
    let queries = queries as f64;
    eprintln!("{} {}", queries / elapsed, parks as f64 / queries);
}

fn spawn<F>(tasks: &mut JoinSet<u64>, query: impl Fn() -> F + Send + 'static)
where
    F: Future<Output = ()> + Send,
{
    tasks.spawn(async move {
        let mut count = 0;
        while !IS_STOPPED.load(Ordering::Relaxed) {
            query().await;
            count += 1;
        }
        count
    });
}

/// Returns the number of parks of the workers.
fn parks() -> u64 {
    let metrics = Handle::current().metrics();
    (0..metrics.num_workers())
        .map(|worker| metrics.worker_park_count(worker))
        .sum()
}
