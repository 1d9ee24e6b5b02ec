//! One program for each primitive. Each is compiled twice; `api` is one of the two libraries.

use super::api::sync as api;

pub(crate) mod barrier;
pub(crate) mod broadcast;
pub(crate) mod mpsc;
pub(crate) mod mutex;
pub(crate) mod notify;
pub(crate) mod once_cell;
pub(crate) mod oneshot;
pub(crate) mod rwlock;
pub(crate) mod semaphore;
pub(crate) mod set_once;
pub(crate) mod unbounded;
pub(crate) mod watch;
