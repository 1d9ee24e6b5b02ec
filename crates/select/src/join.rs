//! `join!` and `try_join!`.

/// Waits for several futures in one task, and gives their outputs as a tuple. The facade's
/// documentation of this macro has the details.
///
/// # Examples
///
/// ```
/// let both = raddle_testing::block_on(async { raddle_select::join!(async { 1 }, async { 2 }) });
/// assert_eq!(both, (1, 2));
/// ```
#[macro_export]
macro_rules! join {
    (biased; $($future:expr),* $(,)?) => {
        $crate::support::join! { [$crate] [biased] $([$future])* }
    };
    ($($future:expr),* $(,)?) => {
        $crate::support::join! { [$crate] [] $([$future])* }
    };
}

/// Waits for several futures in one task until all are `Ok`, or one is `Err`. The facade's
/// documentation of this macro has the details.
///
/// # Examples
///
/// ```
/// let both = raddle_testing::block_on(async {
///     raddle_select::try_join!(async { Ok(1) }, async { Err::<u32, _>("refused") })
/// });
/// assert_eq!(both, Err("refused"));
/// ```
#[macro_export]
macro_rules! try_join {
    (biased; $($future:expr),* $(,)?) => {
        $crate::support::try_join! { [$crate] [biased] $([$future])* }
    };
    ($($future:expr),* $(,)?) => {
        $crate::support::try_join! { [$crate] [] $([$future])* }
    };
}
