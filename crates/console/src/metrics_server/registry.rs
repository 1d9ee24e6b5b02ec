//! The servers of the process, by the addresses that were requested.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, PoisonError};

use raddle_primitives::thread::JoinHandle;

use super::{MetricsServer, Shared};

struct Server {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
    /// The number of runtimes that use it.
    users: usize,
}

/// Held while a server starts or stops, so that the next user of its port finds it running, or the
/// port free.
#[allow(
    clippy::disallowed_types,
    reason = "no model has a server, and the locks of models have no constant value"
)]
// UNRANKED: the threads of servers do not take it.
static SERVERS: std::sync::Mutex<Vec<Server>> = std::sync::Mutex::new(Vec::new());

/// Joins the server for an address, or starts one. With port 0 it is always a new one.
pub(super) fn join(
    requested: SocketAddr,
    start: impl FnOnce() -> io::Result<(Arc<Shared>, JoinHandle<()>)>,
) -> io::Result<MetricsServer> {
    let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = servers
        .iter_mut()
        .find(|it| it.shared.requested == requested && requested.port() != 0);
    let is_joined = found.is_some();
    let shared = match &mut found {
        Some(server) => {
            server.users += 1;
            Arc::clone(&server.shared)
        }
        None => {
            let (shared, thread) = start()?;
            servers.push(Server {
                shared: Arc::clone(&shared),
                thread,
                users: 1,
            });
            shared
        }
    };
    Ok(MetricsServer { shared, is_joined })
}

/// Stops the server if this was its last user.
pub(super) fn leave(shared: &Arc<Shared>) {
    let mut servers = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(index) = servers
        .iter()
        .position(|it| Arc::ptr_eq(&it.shared, shared))
    else {
        return;
    };
    servers[index].users -= 1;
    if servers[index].users == 0 {
        let server = servers.swap_remove(index);
        server.shared.stop();
        // A source may have been the last owner of a runtime.
        if server.thread.thread().id() != std::thread::current().id() {
            // It has closed the listener then. The panic hook has reported a panic of the thread.
            let _ = server.thread.join();
        }
    }
}
