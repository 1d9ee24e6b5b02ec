//! `select!`.

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
/// If every branch is disabled and there is no `else`.
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
#[macro_export]
macro_rules! select {
    (biased; $($branches:tt)*) => {
        $crate::__select_branches! { [biased] [] $($branches)* }
    };
    ($($branches:tt)*) => {
        $crate::__select_branches! { [] [] $($branches)* }
    };
}

/// Reads the branches of `select!` one by one, and passes on what it has read:
/// `[pattern] [future] [handler]`, and `[condition]` if there is one, of each.
///
/// A handler that is a block needs no comma after it; another needs one, unless
/// it is the last.
#[doc(hidden)]
#[macro_export]
macro_rules! __select_branches {
    ([$($biased:ident)?] [$($read:tt)*]) => {
        $crate::macros::support::select! { [$crate] [$($biased)?] [$($read)*] }
    };
    ([$($biased:ident)?] [$($read:tt)*] else => $handler:expr $(,)?) => {
        $crate::macros::support::select! { [$crate] [$($biased)?] [$($read)*] [$handler] }
    };
    ([$($biased:ident)?] [$($read:tt)*] else => $handler:expr, $($rest:tt)+) => {
        ::core::compile_error!("nothing follows the `else` branch; move it to the end")
    };
    (
        [$($biased:ident)?] [$($read:tt)*]
        $pattern:pat = $future:expr $(, if $condition:expr)? => $handler:block, $($rest:tt)*
    ) => {
        $crate::__select_branches! {
            [$($biased)?] [$($read)* {[$pattern] [$future] [$handler] $([$condition])?}] $($rest)*
        }
    };
    (
        [$($biased:ident)?] [$($read:tt)*]
        $pattern:pat = $future:expr $(, if $condition:expr)? => $handler:block $($rest:tt)*
    ) => {
        $crate::__select_branches! {
            [$($biased)?] [$($read)* {[$pattern] [$future] [$handler] $([$condition])?}] $($rest)*
        }
    };
    (
        [$($biased:ident)?] [$($read:tt)*]
        $pattern:pat = $future:expr $(, if $condition:expr)? => $handler:expr
    ) => {
        $crate::__select_branches! {
            [$($biased)?] [$($read)* {[$pattern] [$future] [$handler] $([$condition])?}]
        }
    };
    (
        [$($biased:ident)?] [$($read:tt)*]
        $pattern:pat = $future:expr $(, if $condition:expr)? => $handler:expr, $($rest:tt)*
    ) => {
        $crate::__select_branches! {
            [$($biased)?] [$($read)* {[$pattern] [$future] [$handler] $([$condition])?}] $($rest)*
        }
    };
}
