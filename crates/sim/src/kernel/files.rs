//! Descriptors and what they name. Each simulated one has a number that the system has given for
//! another purpose: a socket without a connection, which keeps the options that the program sets.

use libc::c_int;

use super::epoll::Epoll;
use super::tcp::TcpSocket;
use super::tcp::keep_alive::TimeOuts;
use super::udp::UdpSocket;
use super::{Caller, Errno, Kernel, Result};

pub(crate) type FileId = usize;

/// An open file, in the sense of the system: what one or several descriptors name.
pub(crate) struct File {
    pub(crate) owner: Caller,
    pub(crate) kind: Kind,
    pub(crate) is_nonblocking: bool,
    /// The family of the addresses of a socket.
    pub(crate) domain: c_int,
    /// Those of a stream socket.
    pub(crate) time_outs: TimeOuts,
    descriptors: usize,
    /// The selectors that watch it, and the descriptors that they know it by.
    watchers: Vec<(FileId, c_int)>,
}

pub(crate) enum Kind {
    Tcp(TcpSocket),
    Udp(UdpSocket),
    Epoll(Epoll),
    Event(Counter),
    Pipe(PipeEnd),
    /// A device of random bytes.
    Random,
}

/// An end of a pipe. The system's pipe has the bytes; only waiting for them is simulated.
#[derive(Clone, Copy)]
pub(crate) struct PipeEnd {
    pub(crate) is_writer: bool,
    /// The other end, while the simulation has it. A child process may have it afterwards.
    pub(crate) other: Option<FileId>,
}

/// An `eventfd`.
pub(crate) struct Counter {
    pub(crate) count: u64,
    pub(crate) is_semaphore: bool,
}

/// The most that an `eventfd` counts to.
const MOST: u64 = u64::MAX - 1;

#[derive(Default)]
pub(crate) struct Files {
    files: slab::Slab<File>,
    /// By descriptor.
    table: Vec<Option<FileId>>,
}

impl Files {
    /// Opens a file under a descriptor that the system has just given.
    pub(crate) fn open(
        &mut self,
        fd: c_int,
        owner: Caller,
        kind: Kind,
        is_nonblocking: bool,
    ) -> FileId {
        let id = self.files.insert(File {
            owner,
            kind,
            is_nonblocking,
            domain: libc::AF_UNSPEC,
            time_outs: TimeOuts::default(),
            descriptors: 1,
            watchers: Vec::new(),
        });
        self.set(fd, Some(id));
        id
    }

    fn set(&mut self, fd: c_int, id: Option<FileId>) {
        let at = fd as usize;
        if self.table.len() <= at {
            self.table.resize(at + 1, None);
        }
        self.table[at] = id;
    }

    pub(crate) fn find(&self, fd: c_int) -> Option<FileId> {
        self.table.get(usize::try_from(fd).ok()?).copied().flatten()
    }

    pub(crate) fn get(&self, id: FileId) -> &File {
        &self.files[id]
    }

    pub(crate) fn get_mut(&mut self, id: FileId) -> &mut File {
        &mut self.files[id]
    }

    pub(crate) fn watch(&mut self, id: FileId, epoll: FileId, fd: c_int) {
        self.files[id].watchers.push((epoll, fd));
    }

    pub(crate) fn unwatch(&mut self, id: FileId, epoll: FileId, fd: c_int) {
        let watchers = &mut self.files[id].watchers;
        watchers.retain(|watcher| *watcher != (epoll, fd));
    }

    /// A descriptor of a file.
    fn descriptor(&self, id: FileId) -> Option<c_int> {
        let at = self.table.iter().position(|found| *found == Some(id))?;
        c_int::try_from(at).ok()
    }

    /// The files of a host.
    pub(crate) fn of_host(&self, host: usize) -> Vec<FileId> {
        let files = self.files.iter();
        let files = files.filter(|(_, file)| file.owner.host == host);
        files.map(|(id, _)| id).collect()
    }
}

impl Kernel {
    /// Gives a file a second descriptor.
    pub(crate) fn duplicate(&mut self, id: FileId, fd: c_int) {
        self.files.files[id].descriptors += 1;
        self.files.set(fd, Some(id));
    }

    /// Opens the two ends of a pipe: the one that reads, and the one that writes.
    pub(crate) fn open_pipe(&mut self, fds: [c_int; 2], owner: Caller, is_nonblocking: bool) {
        let [reader, writer] = [(fds[0], false), (fds[1], true)].map(|(fd, is_writer)| {
            let kind = Kind::Pipe(PipeEnd {
                is_writer,
                other: None,
            });
            self.files.open(fd, owner, kind, is_nonblocking)
        });
        for (end, its_other) in [(reader, writer), (writer, reader)] {
            if let Kind::Pipe(end) = &mut self.files.files[end].kind {
                end.other = Some(its_other);
            }
        }
    }

    /// Closes a descriptor. Returns whether it was a simulated one; the system's is still open.
    pub(crate) fn close(&mut self, fd: c_int, resets: bool) -> bool {
        self.on_disk.remove(&fd);
        let Some(id) = self.files.find(fd) else {
            return false;
        };
        self.files.set(fd, None);
        let file = &mut self.files.files[id];
        file.descriptors -= 1;
        if file.descriptors > 0 {
            return true;
        }
        for (epoll, watched) in std::mem::take(&mut file.watchers) {
            if let Kind::Epoll(epoll) = &mut self.files.files[epoll].kind {
                epoll.forget((watched, id));
            }
        }
        let file = self.files.files.remove(id);
        match file.kind {
            Kind::Tcp(socket) => self.close_tcp(file.owner, id, socket, resets),
            Kind::Udp(socket) => self.close_udp(file.owner, id, socket),
            Kind::Epoll(epoll) => {
                for (fd, watched) in epoll.watched() {
                    self.files.unwatch(watched, id, fd);
                }
                let host = &mut self.hosts[file.owner.host];
                if host.driver == Some(id) {
                    host.driver = None;
                }
            }
            Kind::Event(_) | Kind::Random => {}
            Kind::Pipe(PipeEnd {
                other: Some(other), ..
            }) => {
                if let Kind::Pipe(end) = &mut self.files.files[other].kind {
                    end.other = None;
                }
                self.notify_waiters(other);
            }
            Kind::Pipe(PipeEnd { other: None, .. }) => {}
        }
        true
    }

    /// What is ready of a file, as bits of `epoll`.
    pub(crate) fn readiness(&mut self, id: FileId) -> u32 {
        let file = &self.files.files[id];
        let ready = match &file.kind {
            Kind::Tcp(socket) => {
                let (host, socket) = (file.owner.host, socket.clone());
                self.tcp_readiness(host, id, &socket)
            }
            Kind::Udp(socket) => {
                let socket = *socket;
                self.udp_readiness(socket)
            }
            Kind::Epoll(epoll) => {
                let queued = epoll.queued();
                match self.has_event(&queued) {
                    true => libc::EPOLLIN,
                    false => 0,
                }
            }
            Kind::Event(Counter { count, .. }) => match *count {
                0 => libc::EPOLLOUT,
                MOST => libc::EPOLLIN,
                _ => libc::EPOLLIN | libc::EPOLLOUT,
            },
            Kind::Random => libc::EPOLLIN | libc::EPOLLOUT,
            Kind::Pipe(_) => match self.files.descriptor(id) {
                Some(fd) => crate::seam::system_readiness(fd),
                None => 0,
            },
        };
        ready as u32
    }

    /// Tells those who watch a file, or wait for it, that something of it may have become ready.
    pub(crate) fn notify_waiters(&mut self, id: FileId) {
        let file = &self.files.files[id];
        let host = file.owner.host;
        self.notify_selectors(id);
        self.threads.release_file(id, host);
    }

    /// Tells those who watch a file that something of it may have become ready.
    pub(crate) fn notify_selectors(&mut self, id: FileId) {
        for at in 0..self.files.files[id].watchers.len() {
            let (epoll, fd) = self.files.files[id].watchers[at];
            self.queue_event(epoll, (fd, id));
        }
    }

    /// Adds to the count of an `eventfd`.
    pub(crate) fn add_to_event(&mut self, id: FileId, number: u64) -> Result<()> {
        let Kind::Event(Counter { count, .. }) = &mut self.files.files[id].kind else {
            return Err(Errno(libc::EINVAL));
        };
        if number > MOST {
            return Err(Errno(libc::EINVAL));
        }
        *count = match count.checked_add(number) {
            Some(sum @ ..=MOST) => sum,
            _ => return Err(Errno(libc::EAGAIN)),
        };
        self.notify_waiters(id);
        Ok(())
    }

    /// Takes the count of an `eventfd`, or one of it if it is a semaphore.
    pub(crate) fn take_event(&mut self, id: FileId) -> Result<u64> {
        let Kind::Event(Counter {
            count,
            is_semaphore,
        }) = &mut self.files.files[id].kind
        else {
            return Err(Errno(libc::EINVAL));
        };
        if *count == 0 {
            return Err(Errno(libc::EAGAIN));
        }
        let taken = if *is_semaphore { 1 } else { *count };
        // Only so much keeps others from adding, who wait for room then.
        let was_large = *count > MOST / 2;
        *count -= taken;
        if was_large {
            self.notify_waiters(id);
        }
        Ok(taken)
    }
}
