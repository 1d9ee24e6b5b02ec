//! Timers under a paused clock. Compiled twice, with `api` being either library.

use super::api;

pub(crate) mod timers;
