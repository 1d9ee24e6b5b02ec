//! No task dumps: the feature `task-dumps` is off.

use std::io;

use crate::runtime::observers::Observers;

/// Nothing.
#[derive(Clone, Default)]
pub(super) struct Settings(());

/// Nothing.
#[derive(Clone, Default)]
pub(crate) struct Attached(());

impl Settings {
    /// Adds nothing.
    pub(super) fn attach(&self, _: &mut Observers) -> io::Result<Attached> {
        Ok(Attached(()))
    }
}
