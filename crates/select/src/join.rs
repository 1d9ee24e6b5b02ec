//! `join!` and `try_join!`.

/// `raddle_select::join!` waits for several futures in one task, and returns their outputs as a
/// tuple. It works in any executor:
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

/// `raddle_select::try_join!` waits for several futures in one task until all are `Ok`, or one is
/// `Err`. It works in any executor:
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
