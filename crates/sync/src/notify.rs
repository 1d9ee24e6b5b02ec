//! Notifications without a value.

mod notified;
mod state;

use std::fmt;
use std::sync::Arc;

use raddle_primitives::sync::{Mutex, Rank};

use self::notified::{NotifiedBy, Waiter};
use self::state::{State, ToCalled, ToPermit};
use crate::wait_list::WaitList;
use crate::wakers::Wakers;

pub use self::notified::{Notified, OwnedNotified};

/// Notifies one waiting task, or all, that something has happened.
///
/// It works like a semaphore with at most one permit, and none at the start:
/// [`notified`](Self::notified)`.await` waits for the permit and takes it,
/// [`notify_one`](Self::notify_one) gives it to the first waiter, or stores it for the next one.
/// However often `notify_one` is called while no task waits, only one permit is stored, so a
/// notified consumer must handle all pending work.
///
/// [`notify_waiters`](Self::notify_waiters) wakes every [`Notified`] that exists at the time of the
/// call, polled or not, and stores nothing.
///
/// While no task waits, no lock is taken.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::Notify;
///
/// # fn main() { raddle::run(async {
/// let notify = Notify::new();
/// // No task waits: the permit is stored for the next one.
/// notify.notify_one();
/// notify.notified().await;
/// # }) }
/// ```
///
/// To wait until a condition holds, without missing the notification:
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::Notify;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// struct Gate {
///     open: AtomicBool,
///     opened: Notify,
/// }
///
/// impl Gate {
///     fn open(&self) {
///         self.open.store(true, Ordering::Release);
///         self.opened.notify_waiters();
///     }
///
///     async fn pass(&self) {
///         // Created before the check, so that a call between the two notifies it.
///         let opened = self.opened.notified();
///         if !self.open.load(Ordering::Acquire) {
///             opened.await;
///         }
///     }
/// }
///
/// # fn main() { raddle::run(async {
/// # let gate = Gate { open: AtomicBool::new(false), opened: Notify::new() };
/// # gate.open();
/// # gate.pass().await;
/// # }) }
/// ```
pub struct Notify {
    state: State,
    waiters: Mutex<WaitList<Waiter, NotifiedBy>>,
}

impl Notify {
    /// Makes a `Notify` without a permit.
    #[cfg(not(raddle_loom))]
    pub const fn new() -> Self {
        Self::const_new()
    }

    /// Makes a `Notify` without a permit.
    #[cfg(raddle_loom)]
    pub fn new() -> Self {
        Self {
            state: State::new(),
            waiters: Mutex::ranked(Rank::leaf("waiters of a notify"), WaitList::new()),
        }
    }

    /// Makes a `Notify` without a permit, for a static. This function does not exist under loom.
    #[cfg(not(raddle_loom))]
    pub const fn const_new() -> Self {
        Self {
            state: State::new(),
            waiters: Mutex::ranked(Rank::leaf("waiters of a notify"), WaitList::new()),
        }
    }

    /// Waits for a notification.
    ///
    /// [`notify_waiters`](Self::notify_waiters) wakes the future from its creation on. It enters
    /// the queue for [`notify_one`](Self::notify_one) at its first poll or at
    /// [`enable`](Notified::enable).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a dropped future loses its place in the queue. If `notify_one` or `notify_last`
    /// had already chosen it, the notification goes to another waiter, or is stored.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Notify;
    /// use std::sync::Arc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let notify = Arc::new(Notify::new());
    /// let waiter = raddle::spawn({
    ///     let notify = Arc::clone(&notify);
    ///     async move { notify.notified().await }
    /// });
    /// notify.notify_one();
    /// waiter.await?;
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    #[inline]
    pub fn notified(&self) -> Notified<'_> {
        Notified::new(self)
    }

    /// Like [`notified`](Self::notified), but the future keeps the `Notify` alive and may outlive
    /// the caller's borrow.
    ///
    /// # Cancel safety
    ///
    /// The same as for [`notified`](Self::notified).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Notify;
    /// use std::sync::Arc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let notify = Arc::new(Notify::new());
    /// let waiter = raddle::spawn(Arc::clone(&notify).notified_owned());
    /// notify.notify_one();
    /// waiter.await?;
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        OwnedNotified::new(self)
    }

    /// Waits until `check` returns a value, and checks again after each notification. Charged to
    /// the budget of the poll.
    pub(crate) fn wait_for<R>(&self, check: impl Fn() -> Option<R>) -> impl Future<Output = R> {
        raddle_leaf::coop::cooperative(async move {
            loop {
                // Created before the check, so that a change between the two notifies it.
                let notified = self.notified();
                if let Some(value) = check() {
                    return value;
                }
                notified.await;
            }
        })
    }

    /// Notifies the first waiter in the queue. If there is none, a permit is stored, which the next
    /// [`notified`](Self::notified) takes at once; if a permit is already stored, nothing changes.
    ///
    /// Writes before this call are visible to the task that it notifies.
    #[inline]
    pub fn notify_one(&self) {
        self.notify(NotifiedBy::First);
    }

    /// Like [`notify_one`](Self::notify_one), but notifies the last waiter in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Notify;
    /// use std::pin::pin;
    ///
    /// # fn main() { raddle::run(async {
    /// let notify = Notify::new();
    /// let (mut first, mut last) = (pin!(notify.notified()), pin!(notify.notified()));
    /// // In the order in which they wait.
    /// first.as_mut().enable();
    /// last.as_mut().enable();
    /// notify.notify_last();
    /// last.await;
    /// # }) }
    /// ```
    pub fn notify_last(&self) {
        self.notify(NotifiedBy::Last);
    }

    /// Notifies all waiters: every future of [`notified`](Self::notified) that exists, whether it
    /// has been polled or not. Nothing is stored for later futures.
    ///
    /// Writes before this call are visible to the task that it notifies.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Notify;
    ///
    /// # fn main() { raddle::run(async {
    /// let notify = Notify::new();
    /// // Both count as waiting from here on.
    /// let (first, second) = (notify.notified(), notify.notified());
    /// notify.notify_waiters();
    /// first.await;
    /// second.await;
    /// # }) }
    /// ```
    pub fn notify_waiters(&self) {
        if self.state.transition_to_called() == ToCalled::NotifyAll {
            self.notify_all();
        }
    }

    #[inline]
    fn notify(&self, by: NotifiedBy) {
        if self.state.transition_to_permit() == ToPermit::NotifyOne {
            let waker = self.notify_queued(&mut self.waiters.lock(), by);
            // The lock is released with the statement above.
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    /// Notifies a waiter under the lock, or stores a permit if the last waiter has left since the
    /// check.
    fn notify_queued(&self, waiters: &mut WaitList<Waiter, NotifiedBy>, by: NotifiedBy) -> Waiter {
        if self.state.transition_to_permit() == ToPermit::Stored {
            return None;
        }
        let waiter = match by {
            NotifiedBy::Last => waiters.release_last(by),
            NotifiedBy::First | NotifiedBy::All => waiters.release_first(by),
        };
        if waiters.is_empty() {
            self.state.stop_waiting();
        }
        waiter.expect("the list is not empty while WAITING is set")
    }

    fn notify_all(&self) {
        let mut wakers = Wakers::default();
        let mut waiters = self.waiters.lock();
        self.state.call_all();
        while let Some(waiter) = waiters.release_first(NotifiedBy::All) {
            if let Some(waker) = waiter {
                wakers.push(waker);
            }
        }
        drop(waiters);
        wakers.wake_all();
    }
}

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Notify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notify")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
