//! Selectors, as `epoll` has them: edge-triggered, level-triggered and one-shot.

use std::collections::{BTreeMap, VecDeque};

use libc::c_int;

use super::files::{FileId, Kind};
use super::{Errno, Kernel, Result};

/// These are reported whether the program asks for them or not.
const ALWAYS: u32 = (libc::EPOLLERR | libc::EPOLLHUP) as u32;
const EDGE_TRIGGERED: u32 = libc::EPOLLET as u32;
const ONE_SHOT: u32 = libc::EPOLLONESHOT as u32;

#[derive(Default)]
pub(crate) struct Epoll {
    interests: BTreeMap<Key, Interest>,
    /// Those that may have something ready.
    queue: VecDeque<Key>,
}

/// A descriptor and the file that it named when it was added. It stays, as on Linux, until all
/// descriptors of the file are closed, and then the number may be that of another file.
pub(crate) type Key = (c_int, FileId);

/// Stands for a file that is not simulated, of which nothing is ever ready.
const NOT_SIMULATED: FileId = FileId::MAX;

struct Interest {
    events: u32,
    data: u64,
    is_queued: bool,
}

impl Epoll {
    /// Returns the files that may have something ready, and the events that are asked for.
    pub(crate) fn queued(&self) -> Vec<(FileId, u32)> {
        let interests = self
            .queue
            .iter()
            .filter_map(|key| Some((key, self.interests.get(key)?)));
        interests
            .map(|(key, interest)| (key.1, interest.events))
            .collect()
    }

    pub(crate) fn forget(&mut self, key: Key) {
        if self.interests.remove(&key).is_some_and(|it| it.is_queued) {
            self.queue.retain(|queued| *queued != key);
        }
    }

    pub(crate) fn watched(&self) -> impl Iterator<Item = Key> {
        let keys = self.interests.keys().copied();
        keys.filter(|(_, file)| *file != NOT_SIMULATED)
    }

    /// Returns `None` if the program waits for no events of it, otherwise whether it was not queued
    /// before.
    fn queue(&mut self, key: Key) -> Option<bool> {
        let interest = self.interests.get_mut(&key)?;
        if interest.events & !(EDGE_TRIGGERED | ONE_SHOT) == 0 {
            return None;
        }
        let is_new = !std::mem::replace(&mut interest.is_queued, true);
        if is_new {
            self.queue.push_back(key);
        }
        Some(is_new)
    }
}

impl Kernel {
    fn epoll(&mut self, id: FileId) -> Result<&mut Epoll> {
        match &mut self.files.get_mut(id).kind {
            Kind::Epoll(epoll) => Ok(epoll),
            _ => Err(Errno(libc::EINVAL)),
        }
    }

    /// `epoll_ctl`.
    pub(crate) fn control(
        &mut self,
        id: FileId,
        operation: c_int,
        fd: c_int,
        events: u32,
        data: u64,
    ) -> Result<()> {
        let file = self.files.find(fd);
        if file == Some(id) {
            return Err(Errno(libc::EINVAL));
        }
        let key = (fd, file.unwrap_or(NOT_SIMULATED));
        let is_known = self.epoll(id)?.interests.contains_key(&key);
        if operation == libc::EPOLL_CTL_ADD && file.is_some_and(|file| self.watches(file, id)) {
            return Err(Errno(libc::ELOOP));
        }
        let epoll = self.epoll(id)?;
        match operation {
            libc::EPOLL_CTL_ADD if is_known => return Err(Errno(libc::EEXIST)),
            libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL if !is_known => {
                return Err(Errno(libc::ENOENT));
            }
            libc::EPOLL_CTL_DEL => {
                epoll.forget(key);
                if let Some(file) = file {
                    self.files.unwatch(file, id, fd);
                }
                return Ok(());
            }
            libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD => {}
            _ => return Err(Errno(libc::EINVAL)),
        }
        // A one-shot that is disarmed is not told of them either.
        let events = events | ALWAYS;
        let interest = epoll.interests.entry(key).or_insert(Interest {
            events,
            data,
            is_queued: false,
        });
        (interest.events, interest.data) = (events, data);
        if !is_known {
            match file {
                Some(file) => self.files.watch(file, id, fd),
                None => self.record_unsimulated(format!(
                    "events of descriptor {fd}, which is not a simulated socket: it never has any"
                )),
            }
        }
        if let Some(file) = file {
            if self.readiness(file) & events != 0 {
                self.queue_event(id, key);
            }
        }
        Ok(())
    }

    /// Whether a file is a selector that watches another, itself or by further selectors.
    fn watches(&mut self, id: FileId, other: FileId) -> bool {
        let Ok(epoll) = self.epoll(id) else {
            return false;
        };
        let watched: Vec<_> = epoll.watched().map(|(_, file)| file).collect();
        watched
            .into_iter()
            .any(|file| file == other || self.watches(file, other))
    }

    /// Whether a selector has something to report.
    pub(crate) fn has_event(&mut self, queued: &[(FileId, u32)]) -> bool {
        let mut simulated = queued.iter().filter(|(file, _)| *file != NOT_SIMULATED);
        simulated.any(|(file, events)| self.readiness(*file) & events != 0)
    }

    /// A file that a selector watches may have something ready.
    pub(crate) fn queue_event(&mut self, id: FileId, key: Key) {
        let Ok(epoll) = self.epoll(id) else { return };
        match epoll.queue(key) {
            None => {}
            Some(true) => self.selector_is_ready(id),
            // It is news for a selector that watches this one.
            Some(false) => self.notify_selectors(id),
        }
    }

    fn selector_is_ready(&mut self, id: FileId) {
        let number = self.files.get(id).owner.host;
        let host = &mut self.hosts[number];
        if host.driver == Some(id) {
            host.has_events = true;
            self.make_ready(number);
        }
        self.notify_waiters(id);
    }

    /// `epoll_wait` without the wait. Returns how many events it has reported, at most `limit`.
    pub(crate) fn take_events(
        &mut self,
        id: FileId,
        limit: usize,
        mut report: impl FnMut(u32, u64),
    ) -> Result<usize> {
        let mut reported = 0;
        // Each once: those that stay ready are queued again.
        for _ in 0..self.epoll(id)?.queue.len() {
            if reported == limit {
                break;
            }
            let epoll = self.epoll(id)?;
            let Some(key) = epoll.queue.pop_front() else {
                break;
            };
            let Some(interest) = epoll.interests.get_mut(&key) else {
                continue;
            };
            interest.is_queued = false;
            let (events, data) = (interest.events, interest.data);
            let ready = self.readiness(key.1) & events;
            if ready == 0 {
                continue;
            }
            report(ready, data);
            reported += 1;
            let epoll = self.epoll(id)?;
            if events & ONE_SHOT != 0 {
                if let Some(interest) = epoll.interests.get_mut(&key) {
                    interest.events &= EDGE_TRIGGERED | ONE_SHOT;
                }
            } else if events & EDGE_TRIGGERED == 0 {
                epoll.queue(key);
            }
        }
        if reported == limit && !self.epoll(id)?.queue.is_empty() {
            self.selector_is_ready(id);
        }
        Ok(reported)
    }
}
