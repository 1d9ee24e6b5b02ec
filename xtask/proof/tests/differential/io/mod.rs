//! One program a group of utilities. Each is compiled twice, with `api` being either library.

use super::api::io as api;

pub(crate) mod buffered;
pub(crate) mod copying;
pub(crate) mod duplex;
pub(crate) mod reading;
pub(crate) mod simplex;
pub(crate) mod stream;
pub(crate) mod writing;
