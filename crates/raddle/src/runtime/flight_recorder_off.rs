//! No flight recorder: the feature `flight-recorder` is off.

use crate::runtime::observers::Observers;

/// Nothing.
#[derive(Clone, Default)]
pub(super) struct Settings(());

/// Nothing.
#[derive(Clone, Default)]
pub(crate) struct Attached(());

impl Settings {
    /// Adds nothing.
    pub(super) fn attach(&self, _: &mut Observers) -> Attached {
        Attached(())
    }
}

#[cfg(feature = "console")]
impl Attached {
    pub(crate) fn file(&self) -> Option<Vec<u8>> {
        None
    }
}
