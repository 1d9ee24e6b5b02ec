//! A node: openraft and the server that other nodes and clients talk to.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

use openraft::error::{CheckIsLeaderError, ClientWriteError, InitializeError, RaftError};
use openraft::{Config, EmptyNode, Raft, Snapshot};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use super::cluster::Cluster;
use super::log::Log;
use super::machine::Machine;
use super::network::{PORT, Request, receive, send};
use super::{Fault, Types};

/// What all parts of a node know.
#[derive(Clone)]
pub(super) struct Node {
    id: u64,
    nodes: u64,
    pub(super) fault: Option<Fault>,
    cluster: Arc<Mutex<Cluster>>,
    errors: mpsc::UnboundedSender<String>,
}

impl Node {
    /// Also returns the end of the channel for what must not be.
    pub(super) fn new(
        id: u64,
        nodes: u64,
        fault: Option<Fault>,
        cluster: Arc<Mutex<Cluster>>,
    ) -> (Self, mpsc::UnboundedReceiver<String>) {
        let (errors, receiver) = mpsc::unbounded_channel();
        let node = Self {
            id,
            nodes,
            fault,
            cluster,
            errors,
        };
        (node, receiver)
    }

    /// The node after this one.
    pub(super) fn next(&self) -> u64 {
        self.id % self.nodes + 1
    }

    /// Notes something. An error ends the simulation.
    pub(super) fn check(&self, note: impl FnOnce(&mut Cluster, u64) -> Result<(), String>) {
        let noted = note(&mut self.cluster.lock().unwrap(), self.id);
        if let Err(error) = noted {
            let _is_ending = self.errors.send(error);
        }
    }
}

/// Runs a node on the disk of its host, until it goes down.
pub(super) async fn run(
    node: Node,
    mut errors: mpsc::UnboundedReceiver<String>,
    config: Arc<Config>,
) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    let machine = Machine::open(node.clone()).map_err(text)?;
    let log = Log::open(node.clone(), machine.saved()).map_err(text)?;
    let (id, nodes) = (node.id, node.nodes);
    let raft = Raft::<Types>::new(id, config, node, log, machine.clone()).await;
    let raft = raft.map_err(|error| error.to_string())?;

    let members: BTreeMap<_, _> = (1..=nodes).map(|id| (id, EmptyNode {})).collect();
    match raft.initialize(members).await {
        Ok(()) | Err(RaftError::APIError(InitializeError::NotAllowed(_))) => {}
        Err(error) => return Err(error.to_string()),
    }
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await.map_err(text)?;
    let mut metrics = raft.metrics();
    let mut stopped = std::pin::pin!(metrics.wait_for(|metrics| metrics.running_state.is_err()));
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (tcp, _) = accepted.map_err(text)?;
                tokio::spawn(serve(tcp, raft.clone(), machine.clone()));
            }
            Some(error) = errors.recv() => return Err(error),
            state = &mut stopped => {
                let state = state.map(|metrics| format!("{:?}", metrics.running_state));
                let reason = state.unwrap_or_else(|error| error.to_string());
                return Err(format!("openraft has stopped: {reason}"));
            }
        }
    }
}

async fn serve(mut tcp: TcpStream, raft: Raft<Types>, machine: Machine) -> io::Result<()> {
    loop {
        match receive(&mut tcp).await? {
            Request::Append(rpc) => {
                let reply = raft.append_entries(rpc).await;
                send(&mut tcp, &reply.map_err(io::Error::other)?).await?;
            }
            Request::Vote(rpc) => {
                let reply = raft.vote(rpc).await;
                send(&mut tcp, &reply.map_err(io::Error::other)?).await?;
            }
            Request::Install(vote, snapshot) => {
                let meta = snapshot.meta();
                let snapshot = Snapshot { meta, snapshot };
                let reply = raft.install_full_snapshot(vote, snapshot).await;
                send(&mut tcp, &reply.map_err(io::Error::other)?).await?;
            }
            Request::Write(append) => {
                let reply = match raft.client_write(append).await {
                    Ok(written) => Ok(written.data),
                    Err(RaftError::APIError(ClientWriteError::ForwardToLeader(forward))) => {
                        Err(forward.leader_id)
                    }
                    Err(error) => return Err(io::Error::other(error)),
                };
                send(&mut tcp, &reply).await?;
            }
            Request::Read => {
                let reply = match raft.ensure_linearizable().await {
                    Ok(_) => Ok(machine.list()),
                    Err(RaftError::APIError(CheckIsLeaderError::ForwardToLeader(forward))) => {
                        Err(forward.leader_id)
                    }
                    Err(error) => return Err(io::Error::other(error)),
                };
                send(&mut tcp, &reply).await?;
            }
            Request::List => send(&mut tcp, &machine.list()).await?,
        }
    }
}
