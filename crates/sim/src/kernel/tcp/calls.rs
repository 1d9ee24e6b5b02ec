//! What programs call on stream sockets.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use libc::c_int;

use super::{EndpointId, Listening, Segment, TcpSocket, WINDOW_STEP};
use crate::kernel::files::{FileId, Kind};
use crate::kernel::net::{Addr, Claim, Name, Protocol, destination};
use crate::kernel::{Caller, Errno, Kernel, Result};
use crate::trace::Record;

impl Kernel {
    fn tcp(&mut self, id: FileId) -> Result<&mut TcpSocket> {
        match &mut self.files.get_mut(id).kind {
            Kind::Tcp(socket) => Ok(socket),
            Kind::Udp(_) => Err(Errno(libc::EOPNOTSUPP)),
            _ => Err(Errno(libc::ENOTSOCK)),
        }
    }

    /// The end of a connected socket. The error is what the system returns for others.
    fn end(&mut self, id: FileId, otherwise: c_int) -> Result<EndpointId> {
        match self.tcp(id)? {
            TcpSocket::Connection(end) => Ok(*end),
            _ => Err(Errno(otherwise)),
        }
    }

    /// The end of a connected socket.
    pub(super) fn connection(&mut self, id: FileId) -> Option<EndpointId> {
        self.end(id, libc::ENOTCONN).ok()
    }

    pub(crate) fn tcp_readiness(&mut self, host: usize, id: FileId, socket: &TcpSocket) -> c_int {
        match socket {
            TcpSocket::New { .. } => libc::EPOLLOUT | libc::EPOLLHUP,
            TcpSocket::Connection(end) => {
                let broken = libc::EPOLLERR | libc::EPOLLHUP | libc::EPOLLIN | libc::EPOLLOUT;
                self.ends.get(*end).map_or(broken, |end| end.readiness())
            }
            TcpSocket::Listener(name) => {
                let listening = self.listeners.get(&(host, name.clone(), id));
                let mut queue = listening.into_iter().flat_map(|it| &it.queue);
                let is_open = |end: &&EndpointId| {
                    let end = self.ends.get(**end);
                    end.is_some_and(|end| end.opens_at.is_none())
                };
                queue.find(is_open).map_or(0, |_| libc::EPOLLIN)
            }
        }
    }

    pub(crate) fn bind_stream(
        &mut self,
        caller: Caller,
        id: FileId,
        addr: Addr,
        claim: impl FnOnce(IpAddr) -> Claim,
    ) -> Result<()> {
        self.check_unbound(id)?;
        let addr = match addr {
            Addr::Inet(addr) => {
                self.check_own(caller.host, addr.ip())?;
                let (port, claim) = (addr.port(), claim(addr.ip()));
                let port = self
                    .ports
                    .take(caller.host, Protocol::Tcp, port, id, claim)?;
                Addr::Inet(SocketAddr::new(addr.ip(), port))
            }
            Addr::Unix(..) if self.find_listener(caller.host, &addr.name()).is_some() => {
                return Err(Errno(libc::EADDRINUSE));
            }
            Addr::Unix(..) => addr,
        };
        if let TcpSocket::New { bound } = self.tcp(id)? {
            *bound = Some(addr);
        }
        Ok(())
    }

    /// Checks that a socket has no address yet.
    pub(crate) fn check_unbound(&mut self, id: FileId) -> Result<()> {
        match self.tcp(id)? {
            TcpSocket::New { bound: None } => Ok(()),
            _ => Err(Errno(libc::EINVAL)),
        }
    }

    pub(crate) fn listen(&mut self, caller: Caller, id: FileId, backlog: c_int) -> Result<()> {
        let backlog = usize::try_from(backlog).unwrap_or(usize::MAX);
        let bound = match self.tcp(id)? {
            TcpSocket::New { bound } => bound.clone(),
            TcpSocket::Listener(name) => {
                let key = (caller.host, name.clone(), id);
                if let Some(listening) = self.listeners.get_mut(&key) {
                    listening.backlog = backlog;
                }
                return Ok(());
            }
            TcpSocket::Connection(_) => return Err(Errno(libc::EINVAL)),
        };
        let local = match bound {
            Some(local) => local,
            None => {
                let ip: IpAddr = match self.files.get(id).domain {
                    libc::AF_UNIX => return Err(Errno(libc::EINVAL)),
                    libc::AF_INET6 => Ipv6Addr::UNSPECIFIED.into(),
                    _ => Ipv4Addr::UNSPECIFIED.into(),
                };
                let claim = Claim::of(ip);
                let port = self.ports.take(caller.host, Protocol::Tcp, 0, id, claim)?;
                Addr::Inet(SocketAddr::new(ip, port))
            }
        };
        if let Addr::Inet(local) = &local {
            self.ports.listen(caller.host, local.port(), id)?;
        }
        let name = local.name();
        let key = (caller.host, name.clone(), id);
        let listening = Listening {
            backlog,
            queue: VecDeque::new(),
            local,
            file: id,
        };
        self.listeners.insert(key, listening);
        *self.tcp(id)? = TcpSocket::Listener(name);
        Ok(())
    }

    /// Begins to connect, or returns how the attempt stands: `EINPROGRESS` when it has begun,
    /// `EALREADY` while there is no answer, nothing once it is connected, and `EISCONN` from then
    /// on.
    pub(crate) fn connect(&mut self, caller: Caller, id: FileId, peer: Addr) -> Result<()> {
        let bound = match self.tcp(id)? {
            TcpSocket::New { bound } => bound.take(),
            TcpSocket::Listener(_) => return Err(Errno(libc::EISCONN)),
            TcpSocket::Connection(end) => {
                let end = *end;
                let end = self.ends.get(end).ok_or(Errno(libc::ECONNABORTED))?;
                end.check()?;
                return match end.other {
                    None if end.is_broken => Err(Errno(libc::ECONNABORTED)),
                    None => Err(Errno(libc::EALREADY)),
                    Some(_) if std::mem::replace(&mut end.is_reported, true) => {
                        Err(Errno(libc::EISCONN))
                    }
                    Some(_) => Ok(()),
                };
            }
        };
        if let Addr::Unix(..) = &peer {
            return self.connect_unix(caller, id, bound, peer);
        }
        let Some(peer) = peer.inet() else {
            return Err(Errno(libc::EAFNOSUPPORT));
        };
        let peer = destination(peer);
        let peer_host = self.host_of(caller.host, peer.ip())?;
        let local = match bound.and_then(|bound| bound.inet()) {
            Some(local) => local,
            None => {
                let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
                let claim = Claim::of(self.source(caller.host, any, peer).ip());
                let port = self.ports.take(caller.host, Protocol::Tcp, 0, id, claim)?;
                SocketAddr::new(any.ip(), port)
            }
        };
        let local = self.source(caller.host, local, peer);
        self.check_source(local, (caller.host, peer_host))?;
        let ends = (
            (caller.host, Addr::Inet(local)),
            (peer_host, Addr::Inet(peer)),
        );
        let end = self.ends.add(ends.0, ends.1);
        self.ends.of_socket(end).file = Some(id);
        *self.tcp(id)? = TcpSocket::Connection(end);
        self.try_to_connect(end, 0);
        Err(Errno(libc::EINPROGRESS))
    }

    /// Makes the two ends of a connection within a host.
    pub(crate) fn pair(&mut self, caller: Caller) -> (EndpointId, EndpointId) {
        let end = || (caller.host, Addr::unnamed());
        let (one, other) = (self.ends.add(end(), end()), self.ends.add(end(), end()));
        for (end, other) in [(one, other), (other, one)] {
            let end = self.ends.of_socket(end);
            (end.other, end.is_reported) = (Some(other), true);
        }
        (one, other)
    }

    /// Says which socket an end belongs to.
    pub(crate) fn set_file(&mut self, end: EndpointId, file: FileId) {
        if let Some(end) = self.ends.get(end) {
            end.file = Some(file);
        }
    }

    fn connect_unix(
        &mut self,
        caller: Caller,
        id: FileId,
        bound: Option<Addr>,
        peer: Addr,
    ) -> Result<()> {
        let key = self.find_listener(caller.host, &peer.name());
        let key = key.ok_or(Errno(libc::ECONNREFUSED))?;
        let Some(listening) = self.listeners.get(&key) else {
            return Err(Errno(libc::ECONNREFUSED));
        };
        if listening.queue.len() > listening.backlog {
            return Err(Errno(libc::EAGAIN));
        }
        let (file, local) = (listening.file, listening.local.clone());
        let (client, server) = self.pair(caller);
        let end = self.ends.of_socket(client);
        end.file = Some(id);
        end.local = bound.clone().unwrap_or_else(Addr::unnamed);
        let end = self.ends.of_socket(server);
        // The path by which the socket was bound, which may not be the one by which it was found.
        end.local = local.clone();
        end.peer = bound.unwrap_or_else(Addr::unnamed);
        self.ends.of_socket(client).peer = local;
        *self.tcp(id)? = TcpSocket::Connection(client);
        if let Some(listening) = self.listeners.get_mut(&key) {
            listening.queue.push_back(server);
        }
        self.notify_waiters(file);
        Ok(())
    }

    /// Takes a connection from a socket that listens.
    pub(crate) fn accept(&mut self, caller: Caller, id: FileId) -> Result<(EndpointId, Addr)> {
        let TcpSocket::Listener(name) = self.tcp(id)?.clone() else {
            return Err(Errno(libc::EINVAL));
        };
        let key = (caller.host, name, id);
        loop {
            // Gone with its host.
            let listening = self.listeners.get_mut(&key).ok_or(Errno(libc::EINVAL))?;
            let is_open = |end: &EndpointId| {
                let end = self.ends.get(*end);
                end.is_none_or(|end| end.opens_at.is_none())
            };
            let at = listening.queue.iter().position(is_open);
            let end = at.and_then(|at| listening.queue.remove(at));
            let end = end.ok_or(Errno(libc::EAGAIN))?;
            // Reset since.
            let Some(accepted) = self.ends.get(end) else {
                continue;
            };
            return Ok((end, accepted.peer.clone()));
        }
    }

    /// Gives an accepted connection its socket.
    pub(crate) fn set_accepted(
        &mut self,
        caller: Caller,
        listener: FileId,
        end: EndpointId,
        file: FileId,
    ) {
        self.set_file(end, file);
        self.files.get_mut(file).time_outs = self.files.get(listener).time_outs;
        self.watch(end);
        let Some(end) = self.ends.get(end) else {
            return;
        };
        end.is_reported = true;
        if let Addr::Inet(local) = end.local {
            self.ports.share(caller.host, local.port(), listener, file);
        }
    }

    /// Puts a connection back that could not be given a descriptor.
    pub(crate) fn put_back(&mut self, caller: Caller, id: FileId, end: EndpointId) {
        if let Ok(TcpSocket::Listener(name)) = self.tcp(id).cloned() {
            if let Some(listening) = self.listeners.get_mut(&(caller.host, name, id)) {
                listening.queue.push_front(end);
            }
        }
    }

    /// Passes received bytes to `take` until it takes fewer than it is given. Returns how many.
    pub(crate) fn receive(
        &mut self,
        id: FileId,
        is_peek: bool,
        mut take: impl FnMut(&[u8]) -> usize,
    ) -> Result<usize> {
        let otherwise = match self.files.get(id).domain {
            libc::AF_UNIX => libc::EINVAL,
            _ => libc::ENOTCONN,
        };
        let id = self.end(id, otherwise)?;
        let end = self.ends.get(id).ok_or(Errno(libc::ECONNABORTED))?;
        if end.received.is_empty() {
            // As Linux, which keeps the error of a reset that comes after the end for a write.
            if end.has_fin && !end.is_unix() {
                return Ok(0);
            }
            end.check()?;
            if end.other.is_none() && !end.is_broken {
                return Err(Errno(libc::EAGAIN));
            }
            return match end.has_fin || end.is_read_shut || end.is_broken {
                true => Ok(0),
                false => Err(Errno(libc::EAGAIN)),
            };
        }
        let (first, second) = end.received.as_slices();
        let mut bytes = take(first);
        if bytes == first.len() && !second.is_empty() {
            bytes += take(second);
        }
        if !is_peek {
            end.received.drain(..bytes);
            end.consumed += bytes;
            if end.consumed >= WINDOW_STEP && end.other.is_some() {
                let room = std::mem::take(&mut end.consumed);
                self.send(id, Segment::WindowUpdate(room));
            }
        }
        Ok(bytes)
    }

    /// The number of bytes that can be read.
    pub(crate) fn unread(&mut self, id: FileId) -> Result<usize> {
        match self.tcp(id)? {
            TcpSocket::New { .. } => Ok(0),
            TcpSocket::Listener(_) => Err(Errno(libc::EINVAL)),
            TcpSocket::Connection(end) => {
                let end = *end;
                Ok(self.ends.get(end).map_or(0, |end| end.received.len()))
            }
        }
    }

    /// Sends as many of the bytes as there is room for. `EPIPE` comes without a signal.
    pub(crate) fn transmit(&mut self, id: FileId, bufs: &[&[u8]]) -> Result<usize> {
        let otherwise = match self.files.get(id).domain {
            libc::AF_UNIX => libc::ENOTCONN,
            _ => libc::EPIPE,
        };
        let id = self.end(id, otherwise)?;
        let end = self.ends.get(id).ok_or(Errno(libc::ECONNABORTED))?;
        end.check()?;
        if end.has_sent_fin || end.is_broken {
            return Err(Errno(libc::EPIPE));
        }
        if end.other.is_none() {
            return Err(Errno(libc::EAGAIN));
        }
        let asked: usize = bufs.iter().map(|buf| buf.len()).sum();
        let bytes = asked.min(end.room);
        end.is_blocked |= bytes < asked;
        if bytes == 0 {
            return match asked {
                0 => Ok(0),
                _ => Err(Errno(libc::EAGAIN)),
            };
        }
        end.room -= bytes;
        let (from, to) = (end.host, end.peer_host);
        let mut data = Vec::with_capacity(bytes);
        for buf in bufs {
            data.extend_from_slice(&buf[..buf.len().min(bytes - data.len())]);
        }
        self.record(Record::sent(from, to, &data));
        self.send(id, Segment::Data(data.into()));
        Ok(bytes)
    }

    /// Whether a write would fail by an error that no call has returned yet.
    pub(crate) fn has_error(&mut self, id: FileId) -> bool {
        let end = self.end(id, libc::EPIPE).ok();
        let end = end.and_then(|end| self.ends.get(end));
        end.is_some_and(|end| end.error.is_some())
    }

    pub(crate) fn shut_down(&mut self, id: FileId, how: c_int) -> Result<()> {
        if !(libc::SHUT_RD..=libc::SHUT_RDWR).contains(&how) {
            return Err(Errno(libc::EINVAL));
        }
        let file = id;
        let owner = self.files.get(id).owner;
        let id = match self.tcp(id)?.clone() {
            TcpSocket::Connection(end) => end,
            TcpSocket::New { .. } if self.files.get(id).domain == libc::AF_UNIX => return Ok(()),
            TcpSocket::New { .. } => return Err(Errno(libc::ENOTCONN)),
            TcpSocket::Listener(_) if how == libc::SHUT_WR => return Ok(()),
            // As Linux: it listens no more, and those who wait for connections are woken.
            TcpSocket::Listener(name) => {
                let bound = self.stop_listening(owner, file, name);
                *self.tcp(file)? = TcpSocket::New { bound };
                self.notify_waiters(file);
                return Ok(());
            }
        };
        let end = self.ends.get(id).ok_or(Errno(libc::ENOTCONN))?;
        if end.other.is_none() || end.has_ended() {
            return Err(Errno(libc::ENOTCONN));
        }
        if how != libc::SHUT_WR {
            end.is_read_shut = true;
            if end.is_unix() {
                self.send(id, Segment::ReadShut);
            }
        }
        let end = self.ends.of_socket(id);
        if how != libc::SHUT_RD && !std::mem::replace(&mut end.has_sent_fin, true) {
            self.send(id, Segment::Fin);
        }
        self.notify_waiters(file);
        Ok(())
    }

    pub(crate) fn stream_addr(&mut self, id: FileId) -> Result<Option<Addr>> {
        let host = self.files.get(id).owner.host;
        Ok(match self.tcp(id)?.clone() {
            TcpSocket::New { bound } => bound,
            TcpSocket::Listener(name) => {
                let listening = self.listeners.get(&(host, name, id));
                listening.map(|listening| listening.local.clone())
            }
            TcpSocket::Connection(end) => self.ends.get(end).map(|end| end.local.clone()),
        })
    }

    pub(crate) fn stream_peer(&mut self, id: FileId) -> Result<Addr> {
        let end = self.end(id, libc::ENOTCONN)?;
        let end = self
            .ends
            .get(end)
            .filter(|end| end.other.is_some() && !end.has_ended());
        end.map(|end| end.peer.clone()).ok_or(Errno(libc::ENOTCONN))
    }

    /// `SO_ERROR`.
    pub(crate) fn stream_error(&mut self, id: FileId) -> c_int {
        let end = self.end(id, libc::ENOTCONN);
        let end = end.ok().and_then(|end| self.ends.get(end));
        end.and_then(|end| end.check().err())
            .map_or(0, |error| error.0)
    }

    /// Ends the queue of a socket that listens. Returns its address.
    fn stop_listening(&mut self, owner: Caller, id: FileId, name: Name) -> Option<Addr> {
        let listening = self.listeners.remove(&(owner.host, name, id))?;
        for end in listening.queue {
            if let Some(unaccepted) = self.ends.get(end) {
                unaccepted.is_closed = true;
                self.reset(end);
            }
        }
        if let Addr::Inet(local) = &listening.local {
            self.ports.stop_listening(owner.host, local.port(), id);
        }
        Some(listening.local)
    }

    /// Ends a socket. With `resets`, its connection is reset.
    pub(crate) fn close_tcp(
        &mut self,
        owner: Caller,
        file: FileId,
        socket: TcpSocket,
        resets: bool,
    ) {
        let give_back = |kernel: &mut Self, addr: &Addr| {
            // After a crash the ports are those of the host's next start.
            if let (Addr::Inet(addr), true) = (addr, kernel.is_alive(owner)) {
                kernel
                    .ports
                    .give_back(owner.host, Protocol::Tcp, addr.port(), file);
            }
        };
        match socket {
            TcpSocket::New { bound } => {
                if let Some(bound) = bound {
                    give_back(self, &bound);
                }
            }
            TcpSocket::Listener(name) => {
                if !self.is_alive(owner) {
                    return;
                }
                if let Some(local) = self.stop_listening(owner, file, name) {
                    give_back(self, &local);
                }
            }
            TcpSocket::Connection(id) => {
                let Some(end) = self.ends.get(id) else { return };
                (end.is_closed, end.file) = (true, None);
                let resets = resets || !end.received.is_empty();
                let is_open = end.other.is_some();
                let local = end.local.clone();
                give_back(self, &local);
                let end = self.ends.of_socket(id);
                let is_unix = end.is_unix();
                if resets && is_open {
                    self.reset(id);
                } else if is_open {
                    // A Unix stream whose peer reads no more cannot write, but has not ended.
                    if !std::mem::replace(&mut end.has_sent_fin, true) || is_unix {
                        self.send(id, Segment::Fin);
                    }
                    if is_unix {
                        self.send(id, Segment::ReadShut);
                    }
                }
                self.ends.remove_if_done(id);
            }
        }
    }
}
