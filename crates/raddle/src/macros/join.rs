//! `join!` and `try_join!`.

/// Waits for several futures in one task, and returns their outputs as a tuple.
///
/// The task that awaits them polls the futures in turn; to run them in parallel, use
/// [`spawn`](crate::spawn). Each poll of the task polls every future that is not complete, and
/// begins with a different one, so that a future that uses up the [budget](crate::task::coop) does
/// not starve the others. With `biased;` in front, the futures are always polled in the order in
/// which they are written.
///
/// `join!` must be inside an async function or block. Its arguments are [`IntoFuture`].
///
/// # Cancel safety
///
/// If it is dropped before completion, it drops all futures, and the outputs of those that have
/// completed.
///
/// # Examples
///
/// ```
/// async fn number() -> u32 {
///     7
/// }
///
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() {
/// let (number, text) = raddle::join!(number(), async { "seven" });
/// assert_eq!((number, text), (7, "seven"));
///
/// // In the order in which they are written:
/// let both = raddle::join!(biased; async { 1 }, async { 2 });
/// assert_eq!(both, (1, 2));
/// # }
/// ```
#[macro_export]
macro_rules! join {
    (biased; $($future:expr),* $(,)?) => {
        $crate::macros::support::join! { [$crate] [biased] $([$future])* }
    };
    ($($future:expr),* $(,)?) => {
        $crate::macros::support::join! { [$crate] [] $([$future])* }
    };
    (biased; $($rest:tt)*) => {
        $crate::__join_mistake! { join $($rest)* }
    };
    ($($rest:tt)*) => {
        $crate::__join_mistake! { join $($rest)* }
    };
}

/// Waits for several futures in one task until all are `Ok`, or one is `Err`.
///
/// Returns `Ok` with a tuple of the values, or the first error, after which the other futures are
/// dropped. All futures have the same error type. Otherwise it is like [`join!`](crate::join).
///
/// # Cancel safety
///
/// As [`join!`](crate::join).
///
/// # Examples
///
/// ```
/// async fn parse(text: &str) -> Result<u32, std::num::ParseIntError> {
///     text.parse()
/// }
///
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(raddle::try_join!(parse("1"), parse("2")), Ok((1, 2)));
/// assert!(raddle::try_join!(parse("1"), parse("two")).is_err());
/// # }
/// ```
#[macro_export]
macro_rules! try_join {
    (biased; $($future:expr),* $(,)?) => {
        $crate::macros::support::try_join! { [$crate] [biased] $([$future])* }
    };
    ($($future:expr),* $(,)?) => {
        $crate::macros::support::try_join! { [$crate] [] $([$future])* }
    };
    (biased; $($rest:tt)*) => {
        $crate::__join_mistake! { try_join $($rest)* }
    };
    ($($rest:tt)*) => {
        $crate::__join_mistake! { try_join $($rest)* }
    };
}

/// Passes on the input of `join!` or `try_join!` from the first future that no comma follows.
#[doc(hidden)]
#[macro_export]
macro_rules! __join_mistake {
    ($name:ident $future:expr, $($rest:tt)+) => {
        $crate::__join_mistake! { $name $($rest)+ }
    };
    ($name:ident $($rest:tt)+) => {
        $crate::macros::support::join_mistake! { $name $($rest)+ }
    };
}
