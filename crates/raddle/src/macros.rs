//! The macros that wait for several futures, and `pin!`.

/// Waits for several futures in one task, and runs the handler of the first
/// whose output matches its pattern. The other futures are dropped before that.
///
/// ```text
/// raddle::select! {
///     pattern = future => handler,
///     pattern = future, if condition => handler,
///     else => handler,
/// }
/// ```
///
/// There are up to 64 branches. A handler is a block, after which the comma may
/// be left out, or another expression. The handlers have one type, which is that
/// of the whole. It must be inside an async function or block. A handler stands
/// outside the futures: it may use `?`, `.await`, `break`, `continue` and
/// `return` as the code around it does, and change what they had borrowed.
///
/// 1. The conditions are evaluated. A branch whose condition is false is
///    *disabled*.
/// 2. The future expressions are evaluated, also of disabled branches. What
///    they give is [`IntoFuture`].
/// 3. The futures of the branches that are not disabled are polled in turn by
///    the task. When one is complete and its output matches the pattern, that is
///    the result. If it does not match, the output is dropped and the branch
///    disabled, and the others are waited for.
/// 4. When every branch is disabled, the `else` handler is run.
///
/// Each poll begins with a branch chosen at random, so that none that is always
/// ready starves those after it. With `biased;` in front, the order is always
/// that in which they are written, which costs no random number, and it is the
/// program's to put what is rarely ready first.
///
/// When the [budget](crate::task::coop) of the poll is used up, no future is
/// polled and the task yields, so that a `select!` in a loop lets other tasks
/// run also if its futures know no budget.
///
/// # Panics
///
/// Panics if every branch is disabled and there is no `else`.
///
/// # Cancel safety
///
/// The futures that are not the first are dropped, and so is the first with an
/// output that does not match. In a loop, what they did until then is lost
/// unless the operation is *cancel safe*: its documentation says so. A future
/// that must not begin anew is made before the loop and given as `&mut future`,
/// [pinned](crate::pin) if need be.
///
/// # Examples
///
/// A reader that gives up after a while:
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
#[cfg(feature = "macros")]
pub use raddle_select::join;

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
#[cfg(feature = "macros")]
pub use raddle_select::try_join;

/// Pins futures, or other values, to the stack.
///
/// A variable that is named becomes a `Pin<&mut _>` of its former value, which
/// it hides. The second form declares the variables as well. What is pinned
/// lives until the end of the block.
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
