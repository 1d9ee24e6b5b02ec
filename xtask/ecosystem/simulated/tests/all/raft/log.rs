//! The log and the vote of a node: records in one file, each synced before openraft goes on.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::ops::RangeBounds;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use openraft::storage::{LogFlushed, RaftLogStorage};
use openraft::{Entry, LogId, LogState, RaftLogId as _, RaftLogReader, Vote};
use openraft::{StorageError, StorageIOError};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::sleep;

use super::node::Node;
use super::{Fault, Types};

pub(super) const DIRECTORY: &str = "/var/lib/raft";
const FILE: &str = "/var/lib/raft/log";
/// The time from a write to the end of its sync. A slow disk of the simulation would block a thread
/// for it, and take much longer to simulate.
pub(super) const LATENCY: Duration = Duration::from_millis(1);
/// The bytes in front of a record: its length and its checksum.
const HEAD: usize = 8;

pub(super) type Result<T> = std::result::Result<T, StorageError<u64>>;

#[derive(Deserialize, Serialize)]
enum Record {
    Vote(Vote<u64>),
    Entry(Entry<Types>),
    /// There are no entries from this index on.
    Truncated(u64),
    /// There are no entries up to this one.
    Purged(LogId<u64>),
    /// The entries up to this one are committed.
    Committed(Option<LogId<u64>>),
}

impl Record {
    fn write(&self, into: &mut Vec<u8>) -> io::Result<()> {
        let body = serde_json::to_vec(self)?;
        let length = u32::try_from(body.len()).map_err(io::Error::other)?;
        into.extend_from_slice(&length.to_be_bytes());
        into.extend_from_slice(&checksum(&body).to_be_bytes());
        into.extend_from_slice(&body);
        Ok(())
    }

    /// Returns the first record, and what follows it. `None`: it is not there in whole.
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (head, rest) = bytes.split_at_checked(HEAD)?;
        let [length, sum] = [0, 4].map(|at| {
            let word = head[at..at + 4].try_into().expect("four bytes are a word");
            u32::from_be_bytes(word)
        });
        let (body, rest) = rest.split_at_checked(length as usize)?;
        let record = serde_json::from_slice(body).ok()?;
        (checksum(body) == sum).then_some((record, rest))
    }
}

/// FNV-1a.
fn checksum(bytes: &[u8]) -> u32 {
    let add = |sum: u32, byte: &u8| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    bytes.iter().fold(0x811C_9DC5, add)
}

/// The sum of the records.
#[derive(Default)]
struct State {
    vote: Option<Vote<u64>>,
    purged: Option<LogId<u64>>,
    committed: Option<LogId<u64>>,
    entries: BTreeMap<u64, Entry<Types>>,
}

impl State {
    fn add(&mut self, record: Record) {
        match record {
            Record::Vote(vote) => self.vote = Some(vote),
            Record::Entry(entry) => {
                self.entries.insert(entry.log_id.index, entry);
            }
            Record::Truncated(from) => {
                self.entries.split_off(&from);
            }
            Record::Purged(upto) => {
                self.entries = self.entries.split_off(&(upto.index + 1));
                self.purged = Some(upto);
            }
            Record::Committed(upto) => self.committed = upto,
        }
    }
}

#[derive(Clone)]
pub(super) struct Log {
    file: Arc<File>,
    state: Arc<Mutex<State>>,
    node: Node,
    /// The last entry of a snapshot on the disk.
    saved: watch::Receiver<Option<LogId<u64>>>,
}

impl Log {
    /// Reads the log, up to what a crash has left of the last records.
    pub(super) fn open(node: Node, saved: watch::Receiver<Option<LogId<u64>>>) -> io::Result<Self> {
        fs::create_dir_all(DIRECTORY)?;
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(FILE)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let mut state = State::default();
        let mut rest = bytes.as_slice();
        while let Some((record, next)) = Record::read(rest) {
            state.add(record);
            rest = next;
        }
        file.set_len((bytes.len() - rest.len()) as u64)?;
        file.sync_all()?;
        Ok(Self {
            file: Arc::new(file),
            state: Arc::new(Mutex::new(state)),
            node,
            saved,
        })
    }

    async fn write(&self, records: Vec<Record>) -> Result<()> {
        let write = || {
            let mut bytes = Vec::new();
            for record in &records {
                record.write(&mut bytes)?;
            }
            self.file.as_ref().write_all(&bytes)
        };
        let written = write();
        sleep(LATENCY).await;
        written
            .and_then(|()| self.file.sync_data())
            .map_err(|error| StorageIOError::write_logs(&error))?;
        self.remember(records);
        Ok(())
    }

    fn remember(&self, records: Vec<Record>) {
        let mut state = self.state.lock().unwrap();
        records.into_iter().for_each(|record| state.add(record));
    }
}

impl RaftLogReader<Types> for Log {
    async fn try_get_log_entries<R: RangeBounds<u64> + Clone + Debug + Send>(
        &mut self,
        range: R,
    ) -> Result<Vec<Entry<Types>>> {
        let state = self.state.lock().unwrap();
        let entries = state.entries.range(range);
        Ok(entries.map(|(_, entry)| entry.clone()).collect())
    }
}

impl RaftLogStorage<Types> for Log {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> Result<LogState<Types>> {
        let state = self.state.lock().unwrap();
        let last = state.entries.values().next_back();
        Ok(LogState {
            last_purged_log_id: state.purged,
            last_log_id: last.map(|entry| *entry.get_log_id()).or(state.purged),
        })
    }

    async fn get_log_reader(&mut self) -> Self {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote<u64>) -> Result<()> {
        let records = vec![Record::Vote(*vote)];
        if self.node.fault == Some(Fault::VoteInMemory) {
            self.remember(records);
            return Ok(());
        }
        self.write(records).await
    }

    async fn read_vote(&mut self) -> Result<Option<Vote<u64>>> {
        Ok(self.state.lock().unwrap().vote)
    }

    /// A leader that forgets it at a restart serves reads of an old state.
    async fn save_committed(&mut self, committed: Option<LogId<u64>>) -> Result<()> {
        self.write(vec![Record::Committed(committed)]).await
    }

    async fn read_committed(&mut self) -> Result<Option<LogId<u64>>> {
        Ok(self.state.lock().unwrap().committed)
    }

    async fn append<I>(&mut self, entries: I, callback: LogFlushed<Types>) -> Result<()>
    where
        I: IntoIterator<Item = Entry<Types>> + Send,
        I::IntoIter: Send,
    {
        let records = entries.into_iter().map(Record::Entry).collect();
        self.write(records).await?;
        callback.log_io_completed(Ok(()));
        Ok(())
    }

    async fn truncate(&mut self, from: LogId<u64>) -> Result<()> {
        let committed = self.state.lock().unwrap().committed;
        let is_lost = committed.is_some_and(|committed| committed.index >= from.index);
        self.node.check(|_, id| match is_lost {
            true => Err(format!("node {id} drops committed entries from {from} on")),
            false => Ok(()),
        });
        self.write(vec![Record::Truncated(from.index)]).await
    }

    async fn purge(&mut self, upto: LogId<u64>) -> Result<()> {
        // openraft does not wait until the snapshot that it installs is on the disk: a node that
        // crashes before would have neither the snapshot nor the entries.
        let saved = self.saved.wait_for(|saved| *saved >= Some(upto)).await;
        saved.map_err(|error| StorageIOError::write_logs(&error))?;
        self.write(vec![Record::Purged(upto)]).await
    }
}
