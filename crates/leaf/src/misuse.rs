//! Panics of async functions at the line that awaits them.
//!
//! `#[track_caller]` has no effect in the body of an async function. Where the caller has made a
//! mistake, such as to poll a socket outside a runtime, the body therefore returns a [`Misuse`],
//! and [`at_caller`] panics.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

/// The text of a panic of a function that needs a runtime.
pub const NO_RUNTIME: &str = "no runtime on this thread; call this inside \
                              `rt.block_on(async { ... })`, in a task, or after \
                              `let _guard = rt.enter()`";

/// A mistake of the caller, and what to do instead.
#[derive(Debug)]
pub struct Misuse(String);

impl Misuse {
    /// Makes one with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Takes it out of an error that was made `From` it; returns any other error.
    #[inline]
    pub fn from_io(error: io::Error) -> Result<Self, io::Error> {
        match error.get_ref() {
            Some(inner) if inner.is::<Self>() => error.downcast::<Self>(),
            _ => Err(error),
        }
    }

    /// Panics if an error was made `From` a misuse; returns any other error.
    ///
    /// # Panics
    ///
    /// As said.
    #[cold]
    #[track_caller]
    pub fn check_io(error: io::Error) -> io::Error {
        match Self::from_io(error) {
            Ok(misuse) => misuse.panic(),
            Err(error) => error,
        }
    }

    /// Panics with the text.
    ///
    /// # Panics
    ///
    /// Always.
    #[cold]
    #[track_caller]
    pub fn panic(self) -> ! {
        panic!("{self}")
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Misuse {}

impl From<Misuse> for io::Error {
    #[cold]
    fn from(misuse: Misuse) -> Self {
        Self::other(misuse)
    }
}

pin_project! {
    /// The future of [`at_caller`].
    struct AtCaller<F, S> {
        #[pin]
        future: F,
        split: S,
        called_at: &'static Location<'static>,
    }
}

/// Makes the future of an async function that panics if `split` finds a [`Misuse`] in the output.
///
/// The location of the panic is the line that awaits the future. Where other code polls it, such
/// as `block_on` or `select!`, the text names the line that called the async function, which must
/// be `#[track_caller]`.
///
/// # Cancel safety
///
/// The same as for the future from which it is made.
///
/// # Panics
///
/// The poll panics if the function is misused.
///
/// # Examples
///
/// ```
/// use std::future::Future;
///
/// use raddle_leaf::misuse::{Misuse, at_caller};
///
/// #[track_caller]
/// fn half(number: u32) -> impl Future<Output = u32> {
///     let half = async move {
///         match number % 2 {
///             0 => Ok(number / 2),
///             _ => Err(Misuse::new("the number is odd; pass an even one")),
///         }
///     };
///     at_caller(half, |output| output)
/// }
///
/// assert_eq!(raddle_testing::block_on(half(4)), 2);
/// ```
#[track_caller]
pub fn at_caller<F: Future, T>(
    future: F,
    split: impl Fn(F::Output) -> Result<T, Misuse>,
) -> impl Future<Output = T> {
    AtCaller {
        future,
        split,
        called_at: Location::caller(),
    }
}

/// Like [`at_caller`], for a function whose `io::Error` may be made from a [`Misuse`].
///
/// # Cancel safety
///
/// The same as for the future from which it is made.
///
/// # Panics
///
/// The poll panics if the function is misused.
#[track_caller]
pub fn io_at_caller<T>(
    future: impl Future<Output = io::Result<T>>,
) -> impl Future<Output = io::Result<T>> {
    at_caller(future, |output| match output {
        Ok(value) => Ok(Ok(value)),
        Err(error) => Misuse::from_io(error).map_or_else(|error| Ok(Err(error)), Err),
    })
}

impl<F: Future, T, S: Fn(F::Output) -> Result<T, Misuse>> Future for AtCaller<F, S> {
    type Output = T;

    #[inline]
    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = self.project();
        match (this.split)(ready!(this.future.poll(cx))) {
            Ok(output) => Poll::Ready(output),
            Err(misuse) => misused(&misuse, this.called_at),
        }
    }
}

#[cold]
#[track_caller]
fn misused(misuse: &Misuse, called_at: &Location<'_>) -> ! {
    match Location::caller().file() == called_at.file() {
        true => panic!("{misuse}"),
        false => panic!("{misuse} (called at {called_at})"),
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
