//! `send_timeout` without the feature `time`. A call does not compile, and the error names the
//! feature, as the compiler's own error does for a module.

use super::Sender;

#[diagnostic::on_unimplemented(
    message = "the feature `time` is off",
    label = "the feature `time` is off",
    note = "add it to the features of `raddle-sync`, `raddle` or the stand-in `tokio` in Cargo.toml"
)]
pub trait Enabled<'a> {}

#[derive(Debug)]
pub struct Feature;

impl<T> Sender<T> {
    /// Because of the lifetime, the compiler checks the bound at a call and not here.
    #[doc(hidden)]
    pub fn send_timeout<Limit>(&self, _: T, _: Limit)
    where
        for<'a> Feature: Enabled<'a>,
    {
    }
}
