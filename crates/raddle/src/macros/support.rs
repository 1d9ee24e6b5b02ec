//! Functions and types that the code of `select!`, `join!` and `try_join!` uses.

pub use std::future::{Future, IntoFuture, poll_fn};
pub use std::pin::Pin;
pub use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

pub use raddle_macros::{join, select, select_mistake, try_join};
pub use raddle_primitives::random::below as random_below;

/// Returns the branch with this number, which counts on from the first branch after the last.
#[inline]
pub fn wrap(number: usize, count: usize) -> usize {
    number % count
}

/// Makes the future of a `select!`. If a branch completes and no branch has taken a unit of the
/// budget, it takes one. If nothing is left, no branch is polled, and the task yields.
///
/// # Cancel safety
///
/// That of the branches: dropping it drops them.
#[inline]
pub fn poll_branches<T, F>(mut poll: F) -> impl Future<Output = T>
where
    F: FnMut(&mut Context<'_>) -> Poll<T>,
{
    poll_fn(move |cx| raddle_leaf::coop::poll_charged(cx, &mut poll))
}

pin_project! {
    /// A future, and then its output.
    #[project = StateProj]
    #[project_replace = StateReplace]
    #[derive(Debug)]
    pub enum MaybeDone<F>
    where
        F: Future,
    {
        /// Not complete yet.
        Future {
            #[pin]
            future: F,
        },
        /// Complete.
        Done { output: F::Output },
        /// The output has been taken.
        Gone,
    }
}

/// Defines structs of several futures that can be pinned in place.
macro_rules! groups {
    ($($name:ident $together:ident: $($part:ident $future:ident)+;)+) => {$(
        pin_project! {
            /// Several futures, or groups of them, in one value.
            #[derive(Debug)]
            pub struct $name<$($future),+> {
                $(#[pin] $part: $future,)+
            }
        }

        impl<$($future),+> $name<$($future),+> {
            $(
                /// Returns one of the futures.
                #[inline]
                pub fn $part(self: Pin<&mut Self>) -> Pin<&mut $future> {
                    self.project().$part
                }
            )+
        }

        /// Combines futures.
        #[inline]
        #[allow(clippy::too_many_arguments)]
        pub fn $together<$($future),+>($($part: $future),+) -> $name<$($future),+> {
            $name { $($part),+ }
        }
    )+};
}

groups! {
    Two together2: part0 A part1 B;
    Three together3: part0 A part1 B part2 C;
    Four together4: part0 A part1 B part2 C part3 D;
    Five together5: part0 A part1 B part2 C part3 D part4 E;
    Six together6: part0 A part1 B part2 C part3 D part4 E part5 F;
    Seven together7: part0 A part1 B part2 C part3 D part4 E part5 F part6 G;
    Eight together8: part0 A part1 B part2 C part3 D part4 E part5 F part6 G part7 H;
}

/// Turns a future into one that keeps its output.
pub fn maybe_done<F: IntoFuture>(future: F) -> MaybeDone<F::IntoFuture> {
    MaybeDone::Future {
        future: future.into_future(),
    }
}

impl<F: Future> MaybeDone<F> {
    /// Polls the future, unless it is complete.
    pub fn poll_done(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let StateProj::Future { future } = self.as_mut().project() {
            match future.poll(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(output) => self.set(Self::Done { output }),
            }
        }
        Poll::Ready(())
    }

    /// Returns the output of a completed future.
    pub fn take_output(self: Pin<&mut Self>) -> F::Output {
        match self.project_replace(Self::Gone) {
            StateReplace::Done { output } => output,
            _ => unreachable!("the output is taken once, when all are complete"),
        }
    }
}

impl<T, E, F: Future<Output = Result<T, E>>> MaybeDone<F> {
    /// Returns the error of a completed future, if it has one.
    pub fn take_error(mut self: Pin<&mut Self>) -> Option<E> {
        match self.as_mut().project() {
            StateProj::Done { output: Err(_) } => self.take_output().err(),
            _ => None,
        }
    }

    /// Returns the value of a future that completed without an error.
    pub fn take_ok(self: Pin<&mut Self>) -> T {
        match self.take_output() {
            Ok(value) => value,
            Err(_) => unreachable!("try_join has returned at the first error"),
        }
    }
}
