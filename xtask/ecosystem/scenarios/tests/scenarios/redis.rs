//! The client redis on Debian's server.

use std::sync::Arc;
use std::time::Duration;

use daemon::Redis;
use futures_util::StreamExt as _;
use redis::aio::{ConnectionManager, MultiplexedConnection};
use redis::{AsyncCommands as _, Client, RedisError};
use scenarios::on_each_policy;
use tokio::task::JoinSet;

async fn connect(server: &Redis) -> MultiplexedConnection {
    let client = Client::open(server.url()).unwrap();
    client.get_multiplexed_async_connection().await.unwrap()
}

/// Runs the scenario with the server and a prefix that no other test uses.
fn on_redis<F>(name: &'static str, scenario: impl Fn(Arc<Redis>, &'static str) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let server = Redis::get();
    on_each_policy(|| {
        let scenario = scenario(server.clone(), name);
        let server = server.clone();
        async move {
            let _: () = connect(&server).await.del(name).await.unwrap();
            scenario.await;
        }
    });
}

#[test]
fn pipelines_of_many_tasks_share_a_connection() {
    on_redis("pipelines", async |server, key| {
        let connection = connect(&server).await;
        let mut tasks = JoinSet::new();
        for task in 0..16 {
            let mut connection = connection.clone();
            tasks.spawn(async move {
                for round in 0..10 {
                    let mut pipeline = redis::pipe();
                    for command in 0..50 {
                        pipeline.incr(key, 1).ignore();
                        pipeline
                            .cmd("ECHO")
                            .arg(format!("{task} {round} {command}"));
                    }
                    let replies: Vec<String> = pipeline.query_async(&mut connection).await.unwrap();
                    for (command, reply) in replies.iter().enumerate() {
                        assert_eq!(*reply, format!("{task} {round} {command}"));
                    }
                    assert_eq!(replies.len(), 50);
                }
            });
        }
        tasks.join_all().await;
        let mut connection = connection;
        assert_eq!(connection.get::<_, u64>(key).await.unwrap(), 16 * 10 * 50);
    });
}

#[test]
fn a_subscriber_receives_each_message_in_order() {
    const MESSAGES: u32 = 1_000;
    on_redis("channel", async |server, channel| {
        let client = Client::open(server.url()).unwrap();
        let mut subscriber = client.get_async_pubsub().await.unwrap();
        subscriber.subscribe(channel).await.unwrap();
        let mut publisher = connect(&server).await;
        let publishing = tokio::spawn(async move {
            for message in 0..MESSAGES {
                let receivers: u32 = publisher.publish(channel, message).await.unwrap();
                assert_eq!(receivers, 1);
            }
        });
        let mut messages = subscriber.on_message();
        for expected in 0..MESSAGES {
            let message = messages.next().await.unwrap();
            assert_eq!(message.get_payload::<u32>().unwrap(), expected);
        }
        publishing.await.unwrap();
    });
}

#[test]
fn a_killed_connection_comes_back_and_no_acknowledged_write_is_lost() {
    const KILLS: usize = 5;
    on_redis("killed", async |server, key| {
        let client = Client::open(server.url()).unwrap();
        let manager = ConnectionManager::new(client).await.unwrap();
        let mut writers = JoinSet::new();
        let (stop, stopped) = tokio::sync::watch::channel(false);
        for _ in 0..4 {
            let (mut manager, stopped) = (manager.clone(), stopped.clone());
            writers.spawn(async move {
                let (mut acknowledged, mut failed) = (0_u64, 0_u64);
                while !*stopped.borrow() {
                    let written: Result<u64, RedisError> = manager.incr(key, 1).await;
                    match written {
                        Ok(_) => acknowledged += 1,
                        Err(_) => failed += 1,
                    }
                }
                (acknowledged, failed)
            });
        }

        let mut killer = connect(&server).await;
        let mut own = manager.clone();
        for _ in 0..KILLS {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let id: Result<u64, _> = redis::cmd("CLIENT").arg("ID").query_async(&mut own).await;
            let mut kill = redis::cmd("CLIENT");
            kill.arg("KILL").arg("ID").arg(id.unwrap());
            let killed: u64 = kill.query_async(&mut killer).await.unwrap();
            assert_eq!(killed, 1);
            // The connection is back when a command succeeds.
            while own.exists::<_, bool>(key).await.is_err() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        stop.send(true).unwrap();
        let (mut acknowledged, mut failed) = (0, 0);
        for (of_one_acknowledged, of_one_failed) in writers.join_all().await {
            acknowledged += of_one_acknowledged;
            failed += of_one_failed;
        }
        let written: u64 = killer.get(key).await.unwrap();
        assert!(acknowledged > 0);
        // The server may have carried out a write whose reply was lost with the connection.
        assert!(
            (acknowledged..=acknowledged + failed).contains(&written),
            "{written} written, {acknowledged} acknowledged, {failed} failed"
        );
    });
}
