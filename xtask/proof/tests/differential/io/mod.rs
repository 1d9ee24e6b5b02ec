//! One program for each group of utilities. Each is compiled twice; `api` is one of the two
//! libraries.

use super::api::io as api;

pub(crate) mod buffered;
pub(crate) mod copying;
pub(crate) mod duplex;
pub(crate) mod reading;
pub(crate) mod relaying;
pub(crate) mod simplex;
pub(crate) mod stream;
pub(crate) mod writing;
