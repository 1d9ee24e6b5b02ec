//! tokio-postgres against a small server with one table, by simple and extended queries.
//!
//! The statements have no names: those that the crate gives to prepared ones are numbered in the
//! process, so that a second simulation would send longer names than the first.

mod server;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use raddle_sim::Sim;
use simulated::{ATTEMPT, disturb, retry};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

use server::{ALL, Disk, INSERT, SELECT};

const CLIENTS: [&str; 2] = ["alice", "bob"];
const TASKS: i64 = 3;
const WRITES: i64 = 20;

type Error = Box<dyn std::error::Error + Send + Sync>;

type Argument<'a> = (&'a (dyn ToSql + Sync), Type);

/// A connection that all tasks of a client share, and that is made again when it is closed.
#[derive(Clone, Default)]
struct Database(Arc<Mutex<Option<Arc<Client>>>>);

impl Database {
    async fn client(&self) -> Result<Arc<Client>, Error> {
        let mut current = self.0.lock().await;
        if let Some(client) = current.as_ref().filter(|client| !client.is_closed()) {
            return Ok(Arc::clone(client));
        }
        let mut config = Config::new();
        config.host("server").user("test").dbname("test");
        let (client, connection) = timeout(ATTEMPT, config.connect(NoTls)).await??;
        tokio::spawn(connection);
        Ok(Arc::clone(current.insert(Arc::new(client))))
    }

    async fn insert(&self, key: &str, value: i64) -> Result<u64, Error> {
        let client = self.client().await?;
        let arguments: [Argument<'_>; 2] = [(&key, Type::TEXT), (&value, Type::INT8)];
        Ok(client.execute_typed(INSERT, &arguments).await?)
    }

    async fn select(&self, key: &str) -> Result<Option<i64>, Error> {
        let client = self.client().await?;
        let row = client
            .query_typed_opt(SELECT, &[(&key, Type::TEXT)])
            .await?;
        Ok(row.map(|row| row.get(0)))
    }

    async fn all(&self) -> Result<BTreeMap<String, i64>, Error> {
        let client = self.client().await?;
        let mut entries = BTreeMap::new();
        for message in client.simple_query(ALL).await? {
            if let SimpleQueryMessage::Row(row) = message {
                let (key, value) = (row.get(0), row.get(1));
                let value = value.ok_or("each entry has a value")?.parse()?;
                entries.insert(key.ok_or("each entry has a key")?.to_owned(), value);
            }
        }
        Ok(entries)
    }
}

async fn run_client(name: &str) {
    let database = Database::default();
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let (database, name) = (database.clone(), name.to_owned());
        tasks.spawn(async move {
            for value in 0..WRITES {
                let key = format!("{name}-{task}-{value}");
                assert_eq!(retry(|| database.select(&key)).await, None);
                assert_eq!(retry(|| database.insert(&key, value)).await, 1);
                assert_eq!(retry(|| database.select(&key)).await, Some(value));
                sleep(Duration::from_millis(150)).await;
            }
        });
    }
    tasks.join_all().await;
    let all = retry(|| database.all()).await;
    for task in 0..TASKS {
        for value in 0..WRITES {
            let key = format!("{name}-{task}-{value}");
            assert_eq!(all.get(&key), Some(&value), "{key}");
        }
    }
}

fn scenario(sim: &mut Sim) {
    let disk = Disk::default();
    sim.host("server", move || server::serve(Arc::clone(&disk)));
    for name in CLIENTS {
        sim.client(name, run_client(name));
    }
    disturb(sim, &CLIENTS);
}

#[raddle_sim::test(seeds = 4)]
fn acknowledged_inserts_are_stored(sim: &mut Sim) {
    scenario(sim);
    sim.run();
}

#[test]
fn a_seed_repeats() {
    crate::run_twice(scenario);
}
