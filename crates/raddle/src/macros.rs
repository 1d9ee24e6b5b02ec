//! The macros that wait for several futures, and `pin!`.

/// Waits for several futures in one task, and runs the handler of the first one whose output
/// matches its pattern. The other futures are dropped before the handler runs.
///
/// ```text
/// raddle::select! {
///     pattern = future => handler,
///     pattern = future, if condition => handler,
///     else => handler,
/// }
/// ```
///
/// There are up to 64 branches. A handler is a block, after which the comma may be left out, or
/// another expression. All handlers have the same type, which is the type of the whole expression.
/// `select!` must be inside an async function or block. A handler runs outside the futures: it may
/// use `?`, `.await`, `break`, `continue` and `return` like the surrounding code, and may change
/// data that the futures had borrowed.
///
/// 1. The conditions are evaluated. A branch whose condition is false is
///    *disabled*.
/// 2. The future expressions are evaluated, also those of disabled branches. Their values are
///    [`IntoFuture`].
/// 3. The task polls the futures of the enabled branches in turn. When one completes and its output
///    matches the pattern, its handler runs. If the output does not match, it is dropped and the
///    branch is disabled; the wait for the other branches continues.
/// 4. When every branch is disabled, the `else` handler runs.
///
/// Each poll begins with a random branch, so that a branch that is always ready does not starve the
/// ones after it. With `biased;` in front, the branches are always polled in the order in which
/// they are written. That saves the random number, but the program must then put branches that are
/// rarely ready first.
///
/// When the [budget](crate::task::coop) of the poll is used up, no future is polled and the task
/// yields. A completion takes a unit unless the futures have taken one, so a `select!` in a loop
/// lets other tasks run even if its futures do not use the budget.
///
/// # Panics
///
/// Panics if every branch is disabled and there is no `else`.
///
/// # Cancel safety
///
/// All futures except the first are dropped. In a loop, their progress is lost unless the operation
/// is *cancel safe*; its documentation says so. If a future must not start again, create it before
/// the loop and pass `&mut future`, [pinned](crate::pin) if necessary.
///
/// # Examples
///
/// A reader with a timeout:
///
/// ```
/// use raddle::io::AsyncBufReadExt;
/// use raddle::time::{Duration, sleep};
///
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let mut lines = AsyncBufReadExt::lines(&b"one\ntwo\n"[..]);
/// let limit = sleep(Duration::from_secs(5));
/// raddle::pin!(limit);
///
/// let mut count = 0;
/// loop {
///     raddle::select! {
///         line = lines.next_line() => match line? {
///             Some(_) => count += 1,
///             None => break,
///         },
///         _ = &mut limit => break,
///     }
/// }
/// assert_eq!(count, 2);
/// # Ok(())
/// # }
/// ```
///
/// Patterns, a condition and `else`:
///
/// ```
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() {
/// let wanted = false;
/// let answer = raddle::select! {
///     Some(number) = async { None::<u32> } => number,
///     number = async { 7 }, if wanted => number,
///     else => 0,
/// };
/// assert_eq!(answer, 0);
/// # }
/// ```
#[cfg(feature = "macros")]
pub use raddle_select::select;

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
/// Dropped before completion, it drops all futures, and the outputs of those that have completed.
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
#[cfg(feature = "macros")]
pub use raddle_select::join;

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
#[cfg(feature = "macros")]
pub use raddle_select::try_join;

/// Functions that the code of macros calls; a test of Tokio's calls them by this path.
#[cfg(feature = "macros")]
#[doc(hidden)]
pub use raddle_select::support;

/// Pins futures, or other values, to the stack.
///
/// Each named variable is shadowed by a `Pin<&mut _>` to its value. The second form also declares
/// the variables. The values live until the end of the block.
///
/// `std::pin::pin!` does the same for an expression.
///
/// # Examples
///
/// ```
/// use raddle::time::{Duration, sleep};
///
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() {
/// let timer = sleep(Duration::from_millis(5));
/// raddle::pin!(timer);
///
/// let mut rounds = 0;
/// loop {
///     raddle::select! {
///         _ = &mut timer => break,
///         _ = sleep(Duration::from_millis(1)) => rounds += 1,
///     }
/// }
/// # let _ = rounds;
///
/// raddle::pin! {
///     let one = async { 1 };
///     let two = async { 2 };
/// }
/// assert_eq!(raddle::join!(one, two), (1, 2));
/// # }
/// ```
#[macro_export]
macro_rules! pin {
    ($($value:ident),+ $(,)?) => {
        $(
            #[allow(unused_mut)]
            let mut $value = ::core::pin::pin!($value);
        )+
    };
    ($(let $value:ident = $initial:expr;)+) => {
        $(
            #[allow(unused_mut)]
            let mut $value = ::core::pin::pin!($initial);
        )+
    };
}
