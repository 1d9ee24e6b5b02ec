//! `join!` and `try_join!`.

/// `raddle_select::join!` waits for several futures in one task, and returns their outputs as a
/// tuple. It works in any executor.
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
/// `Err`. It works in any executor.
#[macro_export]
macro_rules! try_join {
    (biased; $($future:expr),* $(,)?) => {
        $crate::support::try_join! { [$crate] [biased] $([$future])* }
    };
    ($($future:expr),* $(,)?) => {
        $crate::support::try_join! { [$crate] [] $([$future])* }
    };
}
