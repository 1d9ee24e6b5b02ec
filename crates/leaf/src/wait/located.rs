//! The functions that leaf futures call.

use std::panic::Location;
use std::task::{Context, Poll};

use crate::wait::Resource;

#[cfg(feature = "record")]
use crate::wait::Wait;
#[cfg(feature = "record")]
use crate::wait::frame;

/// The location of the call that made a future. It has a size with the feature `record` only.
#[derive(Clone, Copy, Debug)]
pub struct Caller {
    #[cfg(feature = "record")]
    location: &'static Location<'static>,
}

impl Caller {
    /// Returns the location at which the function that calls this one was called, if that function
    /// is `#[track_caller]`.
    #[cfg_attr(feature = "record", track_caller)]
    #[inline(always)]
    pub fn here() -> Self {
        Self {
            #[cfg(feature = "record")]
            location: Location::caller(),
        }
    }

    /// Returns the location, if it was recorded.
    #[inline(always)]
    pub fn location(self) -> Option<&'static Location<'static>> {
        #[cfg(feature = "record")]
        return Some(self.location);
        #[cfg(not(feature = "record"))]
        None
    }
}

/// Records that the current poll returns `Pending` for this operation. A leaf future calls it at
/// the end of its poll. `cx` is the context of that poll.
#[inline(always)]
pub fn note(cx: &Context<'_>, operation: &'static str, caller: Option<Caller>, resource: Resource) {
    #[cfg(feature = "record")]
    if frame::is_enabled() {
        let location = caller.and_then(Caller::location);
        frame::note(cx, |is_direct| {
            Wait::new(operation, location, resource, is_direct, 0)
        });
    }
    #[cfg(not(feature = "record"))]
    let _ = (cx, operation, caller, resource);
}

/// Takes back what the current poll has recorded by [`note`]: the future of the operation, which
/// has returned `Pending` in this poll, is dropped or has ended.
#[inline(always)]
pub fn withdraw(operation: &'static str, resource: Resource) {
    #[cfg(feature = "record")]
    if frame::is_enabled() {
        frame::withdraw(None, |wait| {
            wait.operation() == operation && wait.resource() == resource
        });
    }
    #[cfg(not(feature = "record"))]
    let _ = (operation, resource);
}

/// Makes a future a leaf operation: a poll that returns `Pending` records the operation, the
/// resource, and the location at which the function that calls this one was called.
///
/// The records of the future's own leaves are dropped, so that only the outermost operation counts,
/// which is the one that the program calls. If its resource is [`Resource::Unknown`], it takes the
/// resource of the leaf that recorded first.
///
/// Without the feature `record` it returns the future.
///
/// # Cancel safety
///
/// The same as for the future from which it is made.
///
/// # Examples
///
/// ```
/// use std::future::Future;
///
/// use raddle_leaf::wait::{Resource, located};
///
/// struct Channel;
///
/// impl Channel {
///     #[track_caller]
///     fn receive(&self) -> impl Future<Output = u32> {
///         let resource = Resource::Messages(std::ptr::from_ref(self).addr());
///         located("Channel::receive", resource, async { 7 })
///     }
/// }
///
/// assert_eq!(raddle_testing::block_on(Channel.receive()), 7);
/// ```
#[cfg_attr(feature = "record", track_caller)]
#[inline(always)]
pub fn located<F: Future>(
    operation: &'static str,
    resource: Resource,
    future: F,
) -> impl Future<Output = F::Output> + use<F> {
    #[cfg(feature = "record")]
    return recorded::Located::new(operation, Caller::here(), resource, future);
    #[cfg(not(feature = "record"))]
    {
        let _ = (operation, resource);
        future
    }
}

/// Like [`located`], for the poll of a named future type: one wait replaces the waits that its
/// leaves have recorded. Its resource is that of the leaf that recorded first.
///
/// # Examples
///
/// ```
/// use std::pin::Pin;
/// use std::task::{Context, Poll};
///
/// use raddle_leaf::wait::{Caller, poll_located};
///
/// struct Read<F> {
///     inner: F,
///     caller: Caller,
/// }
///
/// #[track_caller]
/// fn read<F>(inner: F) -> Read<F> {
///     Read { inner, caller: Caller::here() }
/// }
///
/// impl<F: Future + Unpin> Future for Read<F> {
///     type Output = F::Output;
///
///     fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
///         let caller = self.caller;
///         poll_located(cx, "read", caller, |cx| Pin::new(&mut self.inner).poll(cx))
///     }
/// }
///
/// assert_eq!(raddle_testing::block_on(read(std::future::ready(7))), 7);
/// ```
#[inline(always)]
pub fn poll_located<T>(
    cx: &mut Context<'_>,
    operation: &'static str,
    caller: Caller,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
) -> Poll<T> {
    #[cfg(feature = "record")]
    return recorded::poll(
        cx,
        operation,
        caller,
        &Resource::Unknown,
        &mut recorded::Polls::default(),
        poll,
    );
    #[cfg(not(feature = "record"))]
    {
        let _ = (operation, caller);
        poll(cx)
    }
}

#[cfg(feature = "record")]
mod recorded {
    use std::pin::Pin;
    use std::task::Poll;

    use pin_project_lite::pin_project;

    use super::{Caller, Context, Resource, Wait, frame};

    /// The numbers of the first and of the last poll that has recorded a wait, or zero.
    #[derive(Default)]
    pub(super) struct Polls {
        first: u64,
        last: u64,
    }

    pin_project! {
        pub(super) struct Located<F> {
            operation: &'static str,
            caller: Caller,
            resource: Resource,
            recorded: Polls,
            #[pin]
            future: F,
        }

        impl<F> PinnedDrop for Located<F> {
            #[inline]
            fn drop(this: Pin<&mut Self>) {
                if this.recorded.last != 0 {
                    let (operation, location) = (this.operation, this.caller.location());
                    frame::withdraw(Some(this.recorded.last), |wait| {
                        wait.operation() == operation && wait.location() == location
                    });
                }
            }
        }
    }

    impl<F> Located<F> {
        #[inline]
        pub(super) fn new(
            operation: &'static str,
            caller: Caller,
            resource: Resource,
            future: F,
        ) -> Self {
            Self {
                operation,
                caller,
                resource,
                recorded: Polls::default(),
                future,
            }
        }
    }

    /// Polls, and replaces the waits that the poll has recorded. `recorded` has the polls of
    /// the same operation that have recorded a wait.
    #[inline]
    pub(super) fn poll<T>(
        cx: &mut Context<'_>,
        operation: &'static str,
        caller: Caller,
        resource: &Resource,
        recorded: &mut Polls,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        if !frame::is_enabled() {
            return poll(cx);
        }
        let before = frame::count();
        let polled = poll(cx);
        let is_pending = polled.is_pending();
        let number = frame::replace(cx, before, |inner, is_direct, number| {
            let resource = match *resource {
                Resource::Unknown => inner.unwrap_or(Resource::Unknown),
                known => known,
            };
            let location = caller.location();
            if recorded.first == 0 {
                recorded.first = number;
            }
            let started = recorded.first;
            is_pending.then(|| Wait::new(operation, location, resource, is_direct, started))
        });
        recorded.last = if is_pending { number } else { 0 };
        polled
    }

    impl<F: Future> Future for Located<F> {
        type Output = F::Output;

        #[inline]
        fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
            let this = self.project();
            let future = this.future;
            let (resource, recorded) = (&*this.resource, this.recorded);
            poll(cx, this.operation, *this.caller, resource, recorded, |cx| {
                future.poll(cx)
            })
        }
    }
}
