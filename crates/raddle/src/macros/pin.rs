//! `pin!`.

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
