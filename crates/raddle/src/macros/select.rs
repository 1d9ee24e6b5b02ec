//! `select!`.

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
/// 2. The future expressions are evaluated, including those of disabled branches. Their values are
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
/// All futures except the first to complete are dropped. In a loop, their progress is lost unless
/// the operation is *cancel safe*; its documentation says so. If a future must not start again,
/// create it before the loop and pass `&mut future`, [pinned](crate::pin) if necessary.
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
#[macro_export]
macro_rules! select {
    (biased; $($branches:tt)*) => {
        $crate::__select_branches! { [biased] [] $($branches)* }
    };
    ($($branches:tt)*) => {
        $crate::__select_branches! { [] [] $($branches)* }
    };
}

/// Reads the branches of `select!` one by one, and passes each on as
/// `[pattern] [future] [handler]`, and `[condition]` if there is one.
///
/// A handler that is a block needs no comma after it. Any other handler needs one, unless it is the
/// last. A block is first matched by its braces: if another macro passes on an expression, the
/// fragment `block` stops the compilation instead of failing to match. The last three rules are for
/// a block that another macro passes on, for a branch whose handler is not right, and for what is
/// not a branch.
#[doc(hidden)]
#[macro_export]
macro_rules! __select_branches {
    ([$($biased:ident)?] [$($read:tt)*]) => {
        $crate::macros::support::select! { [$crate] [$($biased)?] [$($read)*] }
    };
    ([$($biased:ident)?] [$($read:tt)*] else => $handler:expr $(,)?) => {
        $crate::macros::support::select! { [$crate] [$($biased)?] [$($read)*] [$handler] }
    };
    // No pattern begins with these words, and the fragment `pat` would report that first.
    ([$($biased:ident)?] [$($read:tt)*] else $($rest:tt)*) => {
        $crate::macros::support::select_mistake! { [] else $($rest)* }
    };
    ([$($biased:ident)?] [$($read:tt)*] async $($rest:tt)*) => {
        $crate::macros::support::select_mistake! { [] async $($rest)* }
    };
    (
        [$($biased:ident)?] [$($read:tt)*]
        $pattern:pat = $future:expr $(, if $condition:expr)? => {$($handler:tt)*}, $($rest:tt)*
    ) => {
        $crate::__select_branches! {
            [$($biased)?]
            [$($read)* {[$pattern] [$future] [{$($handler)*}] $([$condition])?}]
            $($rest)*
        }
    };
    (
        [$($biased:ident)?] [$($read:tt)*]
        $pattern:pat = $future:expr $(, if $condition:expr)? => {$($handler:tt)*} $($rest:tt)*
    ) => {
        $crate::__select_branches! {
            [$($biased)?]
            [$($read)* {[$pattern] [$future] [{$($handler)*}] $([$condition])?}]
            $($rest)*
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
        $pattern:pat = $future:expr $(, if $condition:expr)? => $($rest:tt)*
    ) => {
        $crate::macros::support::select_mistake! { [$pattern $future $($condition)?] $($rest)* }
    };
    ([$($biased:ident)?] [$($read:tt)*] $($rest:tt)+) => {
        $crate::macros::support::select_mistake! { [] $($rest)+ }
    };
}
