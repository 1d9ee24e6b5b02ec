//! `select!`.

/// `raddle_select::select!` waits for several futures in one task, and runs the handler of the
/// first whose output matches its pattern. It works in any executor.
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
/// last. A block is first matched by its braces: the fragment `block` does not just fail to match
/// an expression that another macro passes on, it ends the compilation. The last rule is for a
/// block that another macro passes on.
#[doc(hidden)]
#[macro_export]
macro_rules! __select_branches {
    ([$($biased:ident)?] [$($read:tt)*]) => {
        $crate::support::select! { [$crate] [$($biased)?] [$($read)*] }
    };
    ([$($biased:ident)?] [$($read:tt)*] else => $handler:expr $(,)?) => {
        $crate::support::select! { [$crate] [$($biased)?] [$($read)*] [$handler] }
    };
    ([$($biased:ident)?] [$($read:tt)*] else => $handler:expr, $($rest:tt)+) => {
        ::core::compile_error!("nothing follows the `else` branch; move it to the end")
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
}
