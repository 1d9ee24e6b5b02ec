//! `join!` and `try_join!`.

/// Waits for several futures in one task, and gives their outputs as a tuple.
///
/// The futures are polled in turn by the task that awaits them, not at the same
/// time: [`spawn`](crate::spawn) is for that. A poll of the task polls each that
/// is not complete; another one is the first each time, so that one which uses
/// up the [budget](crate::task::coop) does not starve the others. With `biased;`
/// in front, the order is always that in which they are written.
///
/// It must be inside an async function or block. What is given is
/// [`IntoFuture`].
///
/// # Cancel safety
///
/// Dropped before completion, it drops every future and every output it has by
/// then.
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
}

/// Waits for several futures in one task until all are `Ok`, or one is `Err`.
///
/// It is `Ok` of a tuple of what they gave, or the first error, at which the
/// other futures are dropped. They share the type of the error. For the rest it
/// is as [`join!`](crate::join).
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
}
