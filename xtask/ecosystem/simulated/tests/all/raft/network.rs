//! Connections between nodes, and from clients to nodes: frames of JSON over TCP.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use openraft::error::{Fatal, RPCError, RaftError, ReplicationClosed, StreamingError, Unreachable};
use openraft::network::{Backoff, RPCOption, RaftNetwork, RaftNetworkFactory};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
};
use openraft::{EmptyNode, Snapshot, Vote};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::machine::Contents;
use super::node::Node;
use super::{Append, Fault, Types};

pub(super) const PORT: u16 = 7000;
/// The pause after a node could not be reached.
const PAUSE: Duration = Duration::from_millis(20);
/// How long a faulty candidate waits for a vote. Less than the time limit of openraft.
const VOTE: Duration = Duration::from_millis(40);

#[derive(Deserialize, Serialize)]
pub(super) enum Request {
    Append(AppendEntriesRequest<Types>),
    Vote(VoteRequest<u64>),
    Install(Vote<u64>, Box<Contents>),
    Write(Append),
    Read,
    /// The list of this node, which may be behind.
    List,
}

pub(super) async fn send(tcp: &mut TcpStream, message: &impl Serialize) -> io::Result<()> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = u32::try_from(frame.len() - 4).map_err(io::Error::other)?;
    frame[..4].copy_from_slice(&length.to_be_bytes());
    tcp.write_all(&frame).await
}

pub(super) async fn receive<T: DeserializeOwned>(tcp: &mut TcpStream) -> io::Result<T> {
    let length = tcp.read_u32().await?;
    let mut body = vec![0; length as usize];
    tcp.read_exact(&mut body).await?;
    Ok(serde_json::from_slice(&body)?)
}

/// The nodes are the first hosts. A lookup of their names would block a thread.
fn address(node: u64) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, node as u8)
}

/// A connection to a node, which is made when it is needed.
pub(super) struct Connection {
    node: u64,
    tcp: Option<TcpStream>,
}

impl Connection {
    pub(super) fn new(node: u64) -> Self {
        Self { node, tcp: None }
    }

    pub(super) fn node(&self) -> u64 {
        self.node
    }

    /// Sends a request and receives the reply. An error, or a drop of the future, closes the
    /// connection.
    pub(super) async fn call<T: DeserializeOwned>(&mut self, request: &Request) -> io::Result<T> {
        let mut tcp = match self.tcp.take() {
            Some(tcp) => tcp,
            None => TcpStream::connect((address(self.node), PORT)).await?,
        };
        send(&mut tcp, request).await?;
        let reply = receive(&mut tcp).await?;
        self.tcp = Some(tcp);
        Ok(reply)
    }
}

/// The connection of a node to another.
pub(super) struct Peer {
    node: Node,
    connection: Connection,
}

type Result<T> = std::result::Result<T, RPCError<u64, EmptyNode, RaftError<u64>>>;

impl RaftNetworkFactory<Types> for Node {
    type Network = Peer;

    async fn new_client(&mut self, target: u64, _: &EmptyNode) -> Peer {
        Peer {
            node: self.clone(),
            connection: Connection::new(target),
        }
    }
}

impl RaftNetwork<Types> for Peer {
    async fn append_entries(
        &mut self,
        rpc: AppendEntriesRequest<Types>,
        _: RPCOption,
    ) -> Result<AppendEntriesResponse<u64>> {
        let term = rpc.vote.leader_id().term;
        self.node.check(|cluster, id| cluster.leader(term, id));
        let replied = self.connection.call(&Request::Append(rpc)).await;
        Ok(replied.map_err(|error| Unreachable::new(&error))?)
    }

    async fn vote(&mut self, rpc: VoteRequest<u64>, _: RPCOption) -> Result<VoteResponse<u64>> {
        let vote = rpc.vote;
        let request = Request::Vote(rpc);
        let call = self.connection.call(&request);
        if self.node.fault != Some(Fault::QuorumOffByOne) {
            return Ok(call.await.map_err(|error| Unreachable::new(&error))?);
        }
        let replied = timeout(VOTE, call).await.map_err(io::Error::from);
        match replied.flatten() {
            Err(_) if self.connection.node() == self.node.next() => {
                Ok(VoteResponse::new(vote, None, true))
            }
            replied => Ok(replied.map_err(|error| Unreachable::new(&error))?),
        }
    }

    async fn full_snapshot(
        &mut self,
        vote: Vote<u64>,
        snapshot: Snapshot<Types>,
        _: impl Future<Output = ReplicationClosed> + Send + 'static,
        option: RPCOption,
    ) -> std::result::Result<SnapshotResponse<u64>, StreamingError<Types, Fatal<u64>>> {
        let request = Request::Install(vote, snapshot.snapshot);
        let replied = timeout(option.hard_ttl(), self.connection.call(&request)).await;
        let replied = replied.map_err(io::Error::from).flatten();
        Ok(replied.map_err(|error| Unreachable::new(&error))?)
    }

    fn backoff(&self) -> Backoff {
        Backoff::new(std::iter::repeat(PAUSE))
    }
}
