//! sqlx and tokio-postgres, with pools, on Debian's server.

use std::sync::Arc;
use std::time::Duration;

use daemon::Postgres;
use deadpool_postgres::{Manager, Pool};
use futures_util::{StreamExt as _, future, stream};
use scenarios::load::Load;
use scenarios::on_each_policy;
use sqlx::Row as _;
use sqlx::postgres::{PgListener, PgPool, PgPoolOptions};
use tokio::sync::{Barrier, mpsc};
use tokio::task::{JoinHandle, JoinSet};
use tokio_postgres::error::SqlState;
use tokio_postgres::{AsyncMessage, Client, NoTls, Notification};

/// A query that runs far longer than any scenario waits before it cancels the query.
const LONG_QUERY: &str = "SELECT pg_sleep(1000)";

fn on_postgres<F>(scenario: impl Fn(Arc<Postgres>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let server = Postgres::get();
    on_each_policy(|| scenario(server.clone()));
}

async fn sqlx_pool(server: &Postgres, connections: u32) -> PgPool {
    let options = PgPoolOptions::new().max_connections(connections);
    options.connect(&server.url()).await.unwrap()
}

/// Empties the table with this name, or creates it.
async fn empty_table(pool: &PgPool, name: &str) {
    for statement in [
        format!("DROP TABLE IF EXISTS {name}"),
        format!("CREATE TABLE {name} (number BIGINT NOT NULL)"),
    ] {
        let statement = sqlx::AssertSqlSafe(statement);
        sqlx::query(statement).execute(pool).await.unwrap();
    }
}

/// Returns a client, and the task of its connection, which ends with the client and forwards
/// notifications.
async fn connect(
    config: &str,
) -> (
    Client,
    JoinHandle<()>,
    mpsc::UnboundedReceiver<Notification>,
) {
    let (client, mut connection) = tokio_postgres::connect(config, NoTls).await.unwrap();
    let (sender, notifications) = mpsc::unbounded_channel();
    let driver = tokio::spawn(async move {
        let mut messages = stream::poll_fn(|context| connection.poll_message(context));
        while let Some(message) = messages.next().await {
            if let AsyncMessage::Notification(notification) = message.unwrap() {
                let _ = sender.send(notification);
            }
        }
    });
    (client, driver, notifications)
}

#[test]
fn a_sqlx_pool_serves_more_tasks_than_it_has_connections() {
    on_postgres(async |server| {
        let pool = sqlx_pool(&server, 4).await;
        empty_table(&pool, "pooled").await;
        let mut tasks = JoinSet::new();
        for task in 0..16_i64 {
            let pool = pool.clone();
            tasks.spawn(async move {
                for number in 0..20 {
                    let mut transaction = pool.begin().await.unwrap();
                    sqlx::query("INSERT INTO pooled VALUES ($1)")
                        .bind(100 * task + number)
                        .execute(&mut *transaction)
                        .await
                        .unwrap();
                    if number % 2 == 0 {
                        transaction.commit().await.unwrap();
                    } // If it is not committed, its drop rolls it back.
                }
            });
        }
        tasks.join_all().await;
        let query = sqlx::query("SELECT COUNT(*), COUNT(DISTINCT number) FROM pooled");
        let row = query.fetch_one(&pool).await.unwrap();
        assert_eq!(row.get::<i64, _>(0), 160);
        assert_eq!(row.get::<i64, _>(1), 160);
        pool.close().await;
    });
}

#[test]
fn a_sqlx_listener_receives_notifications_in_order() {
    on_postgres(async |server| {
        let pool = sqlx_pool(&server, 4).await;
        let mut listener = PgListener::connect_with(&pool).await.unwrap();
        listener.listen("sqlx").await.unwrap();
        let notifying = tokio::spawn({
            let pool = pool.clone();
            async move {
                for number in 0..200 {
                    sqlx::query("SELECT pg_notify('sqlx', $1)")
                        .bind(number.to_string())
                        .execute(&pool)
                        .await
                        .unwrap();
                }
            }
        });
        for number in 0..200 {
            let notification = listener.recv().await.unwrap();
            assert_eq!(notification.payload(), number.to_string());
        }
        notifying.await.unwrap();
        drop(listener);
        pool.close().await;
    });
}

#[test]
fn a_dropped_sqlx_query_leaves_its_pool_usable() {
    on_postgres(async |server| {
        let pool = sqlx_pool(&server, 1).await;
        for _ in 0..2 {
            let query = sqlx::query("SELECT pg_sleep(1)").execute(&pool);
            let dropped = tokio::time::timeout(Duration::from_millis(50), query).await;
            assert!(dropped.is_err(), "the query is over before its time");
            let row = sqlx::query("SELECT 1 + 1").fetch_one(&pool).await.unwrap();
            assert_eq!(row.get::<i32, _>(0), 2);
        }
        pool.close().await;
    });
}

#[test]
fn closing_a_sqlx_pool_under_load_loses_no_acknowledged_write() {
    on_postgres(async |server| {
        let pool = sqlx_pool(&server, 4).await;
        empty_table(&pool, "closing").await;
        let load = Load::default();
        let mut tasks = JoinSet::new();
        for _ in 0..16 {
            let (pool, load) = (pool.clone(), load.clone());
            tasks.spawn(async move {
                // The pool hands out no connection once it closes.
                while let Ok(mut connection) = pool.acquire().await {
                    load.begin();
                    sqlx::query("INSERT INTO closing VALUES (1)")
                        .execute(&mut *connection)
                        .await
                        .expect("a connection that was given out goes on");
                    load.answer();
                }
            });
        }
        load.answered(200).await;
        pool.close().await;
        tasks.join_all().await;
        load.assert_no_request_lost();

        let pool = sqlx_pool(&server, 1).await;
        let query = sqlx::query("SELECT COUNT(*) FROM closing");
        let written: i64 = query.fetch_one(&pool).await.unwrap().get(0);
        assert_eq!(written, i64::try_from(load.count()).unwrap());
        pool.close().await;
    });
}

#[test]
fn tokio_postgres_pipelines_queries_on_one_connection() {
    on_postgres(async |server| {
        let unix = format!(
            "host={} port={} user=postgres dbname=postgres",
            server.socket().display(),
            server.port()
        );
        for config in [unix, server.url()] {
            let (client, driver, _) = connect(&config).await;
            let statement = client.prepare("SELECT $1::BIGINT * 2").await.unwrap();
            let doubles = (0..200_i64).map(|number| {
                let (client, statement) = (&client, &statement);
                async move {
                    let row = client.query_one(statement, &[&number]).await.unwrap();
                    assert_eq!(row.get::<_, i64>(0), 2 * number);
                }
            });
            future::join_all(doubles).await;
            drop(client);
            driver.await.unwrap();
        }
    });
}

#[test]
fn a_deadpool_serves_more_tasks_than_it_has_connections() {
    on_postgres(async |server| {
        let config = server.url().parse().unwrap();
        let manager = Manager::new(config, NoTls);
        let pool = Pool::builder(manager).max_size(4).build().unwrap();
        let barrier = Arc::new(Barrier::new(16));
        let mut tasks = JoinSet::new();
        for task in 0..16_i64 {
            let (pool, barrier) = (pool.clone(), barrier.clone());
            tasks.spawn(async move {
                barrier.wait().await;
                for number in 0..20 {
                    let client = pool.get().await.unwrap();
                    let query = "SELECT $1::BIGINT + $2::BIGINT";
                    let row = client.query_one(query, &[&task, &number]).await.unwrap();
                    assert_eq!(row.get::<_, i64>(0), task + number);
                }
            });
        }
        tasks.join_all().await;
        assert!(pool.status().size <= 4);
        pool.close();
    });
}

#[test]
fn a_tokio_postgres_client_receives_notifications_in_order() {
    on_postgres(async |server| {
        let (listener, listening, mut notifications) = connect(&server.url()).await;
        listener.batch_execute("LISTEN plain").await.unwrap();
        let (notifier, notifying, _) = connect(&server.url()).await;
        for number in 0..200 {
            let query = "SELECT pg_notify('plain', $1)";
            notifier
                .execute(query, &[&number.to_string()])
                .await
                .unwrap();
        }
        for number in 0..200 {
            let notification = notifications.recv().await.unwrap();
            assert_eq!(notification.payload(), number.to_string());
        }
        drop((listener, notifier));
        listening.await.unwrap();
        notifying.await.unwrap();
    });
}

#[test]
fn a_cancelled_query_ends_and_its_connection_goes_on() {
    on_postgres(async |server| {
        let (observer, observing, _) = connect(&server.url()).await;
        for _ in 0..3 {
            let (client, driver, _) = connect(&server.url()).await;
            let row = client.query_one("SELECT pg_backend_pid()", &[]).await;
            let process: i32 = row.unwrap().get(0);
            let token = client.cancel_token();
            let cancel = async {
                let query = "SELECT wait_event FROM pg_stat_activity WHERE pid = $1";
                loop {
                    let row = observer.query_one(query, &[&process]).await.unwrap();
                    if row.get::<_, Option<&str>>(0) == Some("PgSleep") {
                        break token.cancel_query(NoTls).await.unwrap();
                    }
                }
            };
            let (outcome, ()) = tokio::join!(client.batch_execute(LONG_QUERY), cancel);
            assert_eq!(outcome.unwrap_err().code(), Some(&SqlState::QUERY_CANCELED));
            // The server signals its process and the process's group. The second of these signals
            // may arrive as late as during the next query.
            let row = loop {
                match client.query_one("SELECT 1 + 1", &[]).await {
                    Err(error) if error.code() == Some(&SqlState::QUERY_CANCELED) => {}
                    row => break row.unwrap(),
                }
            };
            assert_eq!(row.get::<_, i32>(0), 2);
            drop(client);
            driver.await.unwrap();
        }
        drop(observer);
        observing.await.unwrap();
    });
}
