//! The state machine: a list of numbers in memory, with snapshots on the disk.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::sync::{Arc, Mutex};
use std::thread;

use openraft::storage::{RaftStateMachine, Snapshot};
use openraft::{EmptyNode, Entry, EntryPayload, LogId, SnapshotMeta, StoredMembership};
use openraft::{RaftSnapshotBuilder, StorageIOError};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::task::spawn_blocking;

use super::log::{DIRECTORY, LATENCY, Result};
use super::node::Node;
use super::{Append, Types};

const FILE: &str = "/var/lib/raft/snapshot";
const NEW_FILE: &str = "/var/lib/raft/snapshot.new";

/// What the state machine and a snapshot hold.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Contents {
    applied: Option<LogId<u64>>,
    membership: StoredMembership<u64, EmptyNode>,
    list: Vec<u64>,
    /// The position that each request has got.
    positions: BTreeMap<u64, u64>,
}

impl Contents {
    pub(super) fn meta(&self) -> SnapshotMeta<u64, EmptyNode> {
        SnapshotMeta {
            last_log_id: self.applied,
            last_membership: self.membership.clone(),
            snapshot_id: format!("{:?}", self.applied),
        }
    }

    fn append(&mut self, append: &Append) -> u64 {
        let next = self.list.len() as u64;
        let position = *self.positions.entry(append.request).or_insert(next);
        if position == next {
            self.list.push(append.value);
        }
        position
    }

    /// Reads the snapshot of the disk.
    fn load() -> io::Result<Option<Self>> {
        match fs::read(FILE) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the snapshot of the disk by this one, if that is older.
    fn save(&self) -> io::Result<()> {
        let old = Self::load()?;
        if old.is_some_and(|old| old.applied >= self.applied) {
            return Ok(());
        }
        let mut file = File::create(NEW_FILE)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        thread::sleep(LATENCY);
        file.sync_all()?;
        fs::rename(NEW_FILE, FILE)?;
        File::open(DIRECTORY)?.sync_all()
    }
}

#[derive(Clone)]
pub(super) struct Machine {
    node: Node,
    contents: Arc<Mutex<Contents>>,
    /// Held while a snapshot is written: openraft builds one, and receives another.
    saving: Arc<Mutex<()>>,
    /// The last entry of a snapshot on the disk.
    saved: Arc<watch::Sender<Option<LogId<u64>>>>,
}

impl Machine {
    pub(super) fn open(node: Node) -> io::Result<Self> {
        let contents = Contents::load()?.unwrap_or_default();
        Ok(Self {
            node,
            saving: Arc::default(),
            saved: Arc::new(watch::Sender::new(contents.applied)),
            contents: Arc::new(Mutex::new(contents)),
        })
    }

    pub(super) fn saved(&self) -> watch::Receiver<Option<LogId<u64>>> {
        self.saved.subscribe()
    }

    pub(super) fn list(&self) -> Vec<u64> {
        self.contents.lock().unwrap().list.clone()
    }

    async fn save(&self, contents: Contents) -> Result<Snapshot<Types>> {
        let (saving, saved) = (Arc::clone(&self.saving), Arc::clone(&self.saved));
        let save = move || {
            let _guard = saving.lock().unwrap();
            contents.save()?;
            saved.send_modify(|saved| *saved = contents.applied.max(*saved));
            let (meta, snapshot) = (contents.meta(), Box::new(contents));
            io::Result::Ok(Snapshot { meta, snapshot })
        };
        let saved = spawn_blocking(save).await.map_err(io::Error::other);
        let saved = saved.flatten();
        Ok(saved.map_err(|error| StorageIOError::write_snapshot(None, &error))?)
    }
}

impl RaftSnapshotBuilder<Types> for Machine {
    async fn build_snapshot(&mut self) -> Result<Snapshot<Types>> {
        let contents = self.contents.lock().unwrap().clone();
        self.save(contents).await
    }
}

impl RaftStateMachine<Types> for Machine {
    type SnapshotBuilder = Self;

    async fn applied_state(
        &mut self,
    ) -> Result<(Option<LogId<u64>>, StoredMembership<u64, EmptyNode>)> {
        let contents = self.contents.lock().unwrap();
        Ok((contents.applied, contents.membership.clone()))
    }

    async fn apply<I>(&mut self, entries: I) -> Result<Vec<Option<u64>>>
    where
        I: IntoIterator<Item = Entry<Types>> + Send,
        I::IntoIter: Send,
    {
        let mut contents = self.contents.lock().unwrap();
        let apply = |entry: Entry<Types>| {
            contents.applied = Some(entry.log_id);
            match entry.payload {
                EntryPayload::Blank => None,
                EntryPayload::Normal(append) => Some(contents.append(&append)),
                EntryPayload::Membership(members) => {
                    contents.membership = StoredMembership::new(Some(entry.log_id), members);
                    None
                }
            }
        };
        let positions = entries.into_iter().map(apply).collect();
        self.node.check(|cluster, _| cluster.list(&contents.list));
        Ok(positions)
    }

    async fn get_snapshot_builder(&mut self) -> Self {
        self.clone()
    }

    async fn begin_receiving_snapshot(&mut self) -> Result<Box<Contents>> {
        Ok(Box::default())
    }

    async fn install_snapshot(
        &mut self,
        _: &SnapshotMeta<u64, EmptyNode>,
        snapshot: Box<Contents>,
    ) -> Result<()> {
        self.save((*snapshot).clone()).await?;
        self.node.check(|cluster, _| cluster.list(&snapshot.list));
        *self.contents.lock().unwrap() = *snapshot;
        Ok(())
    }

    async fn get_current_snapshot(&mut self) -> Result<Option<Snapshot<Types>>> {
        let loaded = Contents::load();
        let loaded = loaded.map_err(|error| StorageIOError::read_snapshot(None, &error))?;
        Ok(loaded.map(|contents| Snapshot {
            meta: contents.meta(),
            snapshot: Box::new(contents),
        }))
    }
}
