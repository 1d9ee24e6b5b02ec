//! Timers with a paused clock. Compiled twice; `api` is one of the two libraries.

use super::api;

pub(crate) mod timers;
