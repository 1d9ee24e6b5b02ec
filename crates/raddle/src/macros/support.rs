//! Functions and types that the code of `select!`, `join!` and `try_join!` uses.

pub use std::future::{Future, IntoFuture, poll_fn};
use std::future::{Pending, pending};
pub use std::pin::Pin;
pub use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

pub use raddle_macros::{join, join_mistake, select, select_mistake, try_join};
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

/// A value that `select!` and `join!` can wait for: each [`IntoFuture`].
///
/// The compiler has two implementations to choose from. If neither fits, it does not know the type
/// `Future`, and reports this bound and nothing else. With one implementation it would use that one
/// without checking whether it fits, and report each use of its type as well.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a future",
    label = "`{Self}` is not a future",
    note = "the macro itself awaits each future; leave `.await` out"
)]
pub trait Branch<Kind> {
    /// The type of the future.
    type Future: Future;

    /// Returns the future.
    fn start(self) -> Self::Future;
}

/// A value that `try_join!` can wait for: as [`Branch`], with a `Result` as its output.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a future that returns a `Result`",
    label = "this is not a future that returns a `Result`",
    note = "return `Ok(value)`, or wait with `join!`",
    note = "the macro itself awaits each future; leave `.await` out"
)]
pub trait TryBranch<Kind> {
    /// The type of the future.
    type Future: Future;

    /// Returns the future.
    fn start(self) -> Self::Future;
}

/// The kind of each branch.
#[derive(Debug)]
pub struct Waits;

/// The kind of no branch.
#[derive(Debug)]
pub struct Never;

/// No type implements it.
pub trait Unimplemented {}

impl<F: IntoFuture> Branch<Waits> for F {
    type Future = F::IntoFuture;

    #[inline]
    fn start(self) -> Self::Future {
        self.into_future()
    }
}

impl<F: Unimplemented> Branch<Never> for F {
    type Future = Pending<()>;

    fn start(self) -> Self::Future {
        pending()
    }
}

impl<F: IntoFuture<Output = Result<T, E>>, T, E> TryBranch<Waits> for F {
    type Future = F::IntoFuture;

    #[inline]
    fn start(self) -> Self::Future {
        self.into_future()
    }
}

impl<F: Unimplemented> TryBranch<Never> for F {
    type Future = Pending<()>;

    fn start(self) -> Self::Future {
        pending()
    }
}

/// Returns the future of a branch of `select!`.
#[inline]
pub fn select_branch<F: Branch<Kind>, Kind>(future: F) -> F::Future {
    future.start()
}

/// Returns the future of a branch of `join!`, which then keeps its output.
pub fn join_branch<F: Branch<Kind>, Kind>(future: F) -> MaybeDone<F::Future> {
    let future = future.start();
    MaybeDone::Future { future }
}

/// Returns the future of a branch of `try_join!`, which then keeps its output.
pub fn try_join_branch<F: TryBranch<Kind>, Kind>(future: F) -> MaybeDone<F::Future> {
    let future = future.start();
    MaybeDone::Future { future }
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
