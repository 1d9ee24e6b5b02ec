//! Finds out at run time which traits a type implements.
//!
//! If two traits have the same method, the compiler chooses the one that needs fewer references.
//! One of the traits is implemented only for types with the bound, the other for all types behind
//! one more reference. This is "autoref specialization", after David Tolnay.

use std::marker::PhantomData;

/// Represents a type.
pub(crate) struct Probe<T>(PhantomData<T>);

/// Returns the probe of the type of an expression, which is not evaluated.
pub(crate) fn of<T>(_: impl FnOnce() -> T) -> Probe<T> {
    Probe(PhantomData)
}

/// Represents a value of any type, in expressions that are not evaluated.
pub(crate) fn value<T>() -> T {
    unreachable!("only the types of expressions are looked at")
}

/// A type or future of the API, and which of [`TRAITS`] it has.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) has: Vec<bool>,
}

macro_rules! probed_traits {
    ($($yes:ident, $no:ident, $method:ident: $bound:path;)*) => {
        $(
            pub(crate) trait $yes {
                fn $method(&self) -> bool {
                    true
                }
            }
            impl<T: $bound> $yes for Probe<T> {}

            pub(crate) trait $no {
                fn $method(&self) -> bool {
                    false
                }
            }
            impl<T> $no for &Probe<T> {}
        )*

        /// The names of the traits.
        pub(crate) const TRAITS: &[&str] = &[$(stringify!($bound)),*];
    };
}

probed_traits! {
    Sends, SendsNot, is_send: Send;
    Syncs, SyncsNot, is_sync: Sync;
    Unpins, UnpinsNot, is_unpin: Unpin;
    Unwinds, UnwindsNot, is_unwind_safe: std::panic::UnwindSafe;
    UnwindsRef, UnwindsRefNot, is_ref_unwind_safe: std::panic::RefUnwindSafe;
    Debugs, DebugsNot, is_debug: std::fmt::Debug;
    Displays, DisplaysNot, is_display: std::fmt::Display;
    Errors, ErrorsNot, is_error: std::error::Error;
    Clones, ClonesNot, is_clone: Clone;
    Copies, CopiesNot, is_copy: Copy;
    Defaults, DefaultsNot, is_default: Default;
    Equals, EqualsNot, is_partial_eq: PartialEq;
    EqualsAlways, EqualsAlwaysNot, is_eq: Eq;
    Orders, OrdersNot, is_partial_ord: PartialOrd;
    OrdersAlways, OrdersAlwaysNot, is_ord: Ord;
    Hashes, HashesNot, is_hash: std::hash::Hash;
    Futures, FuturesNot, is_future: std::future::Future;
}

/// Lists which of [`TRAITS`] the type of a probe has. It is a macro because the type must be known
/// where it is used.
macro_rules! probed {
    ($probe:expr) => {{
        use $crate::probe::*;
        let probe = &$probe;
        vec![
            probe.is_send(),
            probe.is_sync(),
            probe.is_unpin(),
            probe.is_unwind_safe(),
            probe.is_ref_unwind_safe(),
            probe.is_debug(),
            probe.is_display(),
            probe.is_error(),
            probe.is_clone(),
            probe.is_copy(),
            probe.is_default(),
            probe.is_partial_eq(),
            probe.is_eq(),
            probe.is_partial_ord(),
            probe.is_ord(),
            probe.is_hash(),
            probe.is_future(),
        ]
    }};
}
pub(crate) use probed;

/// Makes rows for types.
macro_rules! types {
    ($rows:expr; { $($entries:tt)* }) => {
        $crate::probe::types! { $rows; $($entries)* }
    };
    ($rows:expr; $($name:ty;)*) => {$(
        $rows.push($crate::probe::Row {
            name: stringify!($name).replace("\n", " "),
            has: $crate::probe::probed!($crate::probe::of(|| $crate::probe::value::<$name>())),
        });
    )*};
}
pub(crate) use types;

/// Makes rows for the results of methods and functions: a receiver or a module, and calls.
macro_rules! futures {
    ($rows:expr; { $($entries:tt)* }) => {
        $crate::probe::futures! { $rows; $($entries)* }
    };
    ($rows:expr; $($receiver:ty => $($method:ident($($argument:expr),* $(,)?)),+ $(,)?;)*) => {$($(
        $rows.push($crate::probe::Row {
            name: concat!(stringify!($receiver), " => ", stringify!($method)).to_owned(),
            has: $crate::probe::probed!($crate::probe::of(|| {
                $crate::probe::value::<$receiver>().$method($($argument),*)
            })),
        });
    )+)*};
}
pub(crate) use futures;

/// Makes rows for the results of functions.
macro_rules! calls {
    ($rows:expr; { $($entries:tt)* }) => {
        $crate::probe::calls! { $rows; $($entries)* }
    };
    ($rows:expr; $($call:expr;)*) => {$(
        $rows.push($crate::probe::Row {
            name: stringify!($call).to_owned(),
            has: $crate::probe::probed!($crate::probe::of(|| $call)),
        });
    )*};
}
pub(crate) use calls;

/// Makes the rows of a list for each parameter `T`.
macro_rules! for_each_parameter {
    ($rows:expr; $($parameter:ident),*; $list:ident! $entries:tt) => {$({
        type T = $crate::parameters::$parameter;
        let first = $rows.len();
        $crate::probe::$list! { $rows; $entries }
        for row in &mut $rows[first..] {
            row.name.push_str(concat!(", T = ", stringify!($parameter)));
        }
    })*};
}
pub(crate) use for_each_parameter;
