//! The macros that wait for several futures, and `pin!`.
//!
//! The `macro_rules!` macros split their input into patterns, expressions and blocks. The
//! procedural macros of `raddle-macros` generate the code, which calls the functions of `support`.

#[cfg(feature = "macros")]
mod join;
#[cfg(not(feature = "macros"))]
mod off;
#[cfg(feature = "macros")]
mod select;

/// Functions that the code of macros calls; a test of Tokio calls them by this path.
#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod support;

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
