//! The readiness that a guard clears.

use raddle_reactor::{Ready, ReadyEvent, Registration};

/// The readiness that was found, without the flags that have been cleared since.
pub(super) struct GuardedReadiness(Option<ReadyEvent>);

impl GuardedReadiness {
    pub(super) fn new(event: ReadyEvent) -> Self {
        Self(Some(event))
    }

    pub(super) fn ready(&self) -> Ready {
        self.0.map_or(Ready::EMPTY, |event| event.ready())
    }

    pub(super) fn clear(&mut self, registration: &Registration, ready: Ready) {
        if let Some(event) = self.0.take() {
            // Readiness that is newer than the event is not cleared; the next call finds it.
            let _ = registration.clear_readiness(event.only(ready));
            let left = event.only(event.ready() - ready);
            self.0 = (!left.ready().is_empty()).then_some(left);
        }
    }
}

/// Writes the methods that both guards have, structs with the fields `async_fd` and `readiness`.
/// `$AsyncFd` is the reference that the closure of `try_io` gets.
macro_rules! ready_guard {
    (
        $name:ident, $AsyncFd:ty;
        $(#[$clear_ready:meta])* clear_ready,
    ) => {
        impl<'a, T: AsRawFd> $name<'a, T> {
            /// Clears the readiness that the guard was made for, so that the next wait waits for a
            /// new event. Call it only if an operation on the descriptor has returned `WouldBlock`:
            /// otherwise no event will come.
            $(#[$clear_ready])*
            pub fn clear_ready(&mut self) {
                self.clear_ready_matching(raddle_reactor::Ready::ALL);
            }

            /// Like [`clear_ready`](Self::clear_ready), but clears only `ready`: for an operation
            /// in one of the directions that the guard was made for.
            pub fn clear_ready_matching(&mut self, ready: raddle_reactor::Ready) {
                self.readiness.clear(&self.async_fd.registration, ready);
            }

            /// Leaves the readiness as it is, as dropping the guard does.
            pub fn retain_ready(&mut self) {}

            /// Returns the readiness that was found, without the flags that have been cleared
            /// since.
            pub fn ready(&self) -> raddle_reactor::Ready {
                self.readiness.ready()
            }

            /// Calls `f`, and clears the readiness if `f` returns `WouldBlock`. `f` must return
            /// that only if the descriptor did.
            ///
            /// # Errors
            ///
            /// Returns [`TryIoError`](super::TryIoError) if `f` returned `WouldBlock`; its other
            /// errors are in the inner result.
            pub fn try_io<R>(
                &mut self,
                f: impl FnOnce($AsyncFd) -> std::io::Result<R>,
            ) -> Result<std::io::Result<R>, super::TryIoError> {
                match f(self.async_fd) {
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                        self.clear_ready();
                        Err(super::TryIoError(()))
                    }
                    result => Ok(result),
                }
            }
        }

        impl<T: AsRawFd + std::fmt::Debug> std::fmt::Debug for $name<'_, T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("async_fd", &self.async_fd)
                    .field("ready", &self.ready())
                    .finish()
            }
        }
    };
}

pub(super) use ready_guard;
