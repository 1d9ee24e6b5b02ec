//! A client: it appends numbers and reads the list, and tries again until it succeeds.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::de::DeserializeOwned;
use tokio::time::{sleep, timeout};

use super::cluster::Cluster;
use super::network::{Connection, Request};
use super::{Append, Fault};

/// The numbers that each client appends.
const APPENDS: u64 = 8;
/// The time limit of an attempt.
const ATTEMPT: Duration = Duration::from_millis(120);
const PAUSE: Duration = Duration::from_millis(10);
const BETWEEN: Duration = Duration::from_millis(50);

/// Returns the numbers that a client appends.
pub(super) fn values(client: u64) -> impl Iterator<Item = u64> {
    (0..APPENDS).map(move |number| client * 1_000 + number)
}

pub(super) struct Client {
    id: u64,
    nodes: u64,
    /// The node that the client takes for the leader.
    leader: Connection,
    /// The number of requests to append.
    requests: u64,
    fault: Option<Fault>,
    cluster: Arc<Mutex<Cluster>>,
}

impl Client {
    pub(super) fn new(
        id: u64,
        nodes: u64,
        fault: Option<Fault>,
        cluster: Arc<Mutex<Cluster>>,
    ) -> Self {
        Self {
            id,
            nodes,
            leader: Connection::new(1),
            requests: 0,
            fault,
            cluster,
        }
    }

    pub(super) async fn run(mut self) -> Result<(), String> {
        let cluster = Arc::clone(&self.cluster);
        for value in values(self.id) {
            let begun = cluster.lock().unwrap().begin();
            let position = self.append(value).await;
            cluster.lock().unwrap().appended(begun, value, position)?;

            let begun = cluster.lock().unwrap().begin();
            let read: Vec<u64> = self.ask_leader(|_| Request::Read).await;
            cluster.lock().unwrap().read(begun, &read)?;
            sleep(BETWEEN).await;
        }
        // All nodes get them all in the end.
        for node in 1..=self.nodes {
            while !self.has_all(node).await {
                sleep(PAUSE).await;
            }
        }
        Ok(())
    }

    async fn append(&mut self, value: u64) -> u64 {
        let fault = self.fault;
        let mut is_first = true;
        let position: Option<u64> = self
            .ask_leader(|client| {
                if is_first || fault == Some(Fault::RetryAsNewRequest) {
                    client.requests += 1;
                }
                is_first = false;
                let request = client.id * 1_000 + client.requests;
                Request::Write(Append { request, value })
            })
            .await;
        position.expect("the entry of a client has a position")
    }

    /// Asks the leader, again and again until it answers.
    async fn ask_leader<T: DeserializeOwned>(
        &mut self,
        mut request: impl FnMut(&mut Self) -> Request,
    ) -> T {
        loop {
            let request = request(self);
            let attempt = self.leader.call::<Result<T, Option<u64>>>(&request);
            let other = match timeout(ATTEMPT, attempt).await {
                Ok(Ok(Ok(answer))) => return answer,
                Ok(Ok(Err(leader))) => leader,
                Ok(Err(_)) | Err(_) => None,
            };
            let next = self.leader.node() % self.nodes + 1;
            self.leader = Connection::new(other.unwrap_or(next));
            sleep(PAUSE).await;
        }
    }

    /// Whether a node has all numbers of this client.
    async fn has_all(&self, node: u64) -> bool {
        let mut connection = Connection::new(node);
        let attempt = connection.call::<Vec<u64>>(&Request::List);
        match timeout(ATTEMPT, attempt).await {
            Ok(Ok(list)) => values(self.id).all(|value| list.contains(&value)),
            Ok(Err(_)) | Err(_) => false,
        }
    }
}
