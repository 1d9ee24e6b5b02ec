//! The procedural macros of Raddle: `#[raddle::main]`, `#[raddle::test]`, `#[raddle_sim::test]`,
//! and the code of `select!`, `join!` and `try_join!`.
//!
//! Use them through the crates `raddle` and `raddle-sim`, which export them; the code they write
//! names these.

mod arguments;
mod branches;
mod error;
mod expand;
mod facade;
mod function;
mod join;
mod mistake;
mod select;
mod sim;
#[cfg(test)]
mod tests;
mod tokens;

use proc_macro::TokenStream;

use crate::facade::Facade;

/// Runs an async function as the program, on a runtime of its own.
///
/// The runtime has I/O and timers enabled and lives as long as the call. The function need not be
/// `main`: any other is made synchronous in the same way, arguments included.
///
/// # Arguments
///
/// - `flavor = "multi_thread"` (the default), `"current_thread"`, or `"local"`, a
///   current-thread runtime with `spawn_local`;
/// - `worker_threads = N`: the number of workers of a multi-thread runtime. Default: that of
///   `Builder::worker_threads`;
/// - `start_paused = true`: pauses the clock of a current-thread runtime, which then advances only
///   by `advance`, or automatically when there is nothing to do except wait;
/// - `name = "text"`: the runtime's name, for `Handle::name`;
/// - `unhandled_panic = "ignore"` (the default) or `"shutdown_runtime"`: what the
///   panic of a task does to the runtime;
/// - `crate = "path"`: the path at which the generated code finds Raddle. Default: the name that
///   the crate's manifest gives the dependency.
///
/// # Panics
///
/// The function panics if the runtime cannot be built.
#[proc_macro_attribute]
pub fn main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::main(Facade::Raddle, true, arguments.into(), item.into()).into()
}

/// Runs an async function as a test, on a runtime of its own.
///
/// The runtime has I/O and timers enabled and lives as long as the test.
///
/// # Arguments
///
/// - `flavor = "current_thread"` (the default), `"multi_thread"`, or `"local"`, a
///   current-thread runtime with `spawn_local`;
/// - `worker_threads = N`: the number of workers of a multi-thread runtime. Default: that of
///   `Builder::worker_threads`;
/// - `start_paused = true`: pauses the clock of a current-thread runtime, which then advances only
///   by `advance`, or automatically when there is nothing to do except wait;
/// - `name = "text"`: the runtime's name, for `Handle::name`;
/// - `unhandled_panic = "ignore"` (the default) or `"shutdown_runtime"`: what the
///   panic of a task does to the runtime;
/// - `crate = "path"`: the path at which the generated code finds Raddle. Default: the name that
///   the crate's manifest gives the dependency.
///
/// # Panics
///
/// The test panics if the runtime cannot be built.
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::test(Facade::Raddle, true, arguments.into(), item.into()).into()
}

/// `main` of a facade without multi-thread runtimes.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn main_current_thread(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::main(Facade::Raddle, false, arguments.into(), item.into()).into()
}

/// `test` of a facade without multi-thread runtimes.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn test_current_thread(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::test(Facade::Raddle, false, arguments.into(), item.into()).into()
}

/// `main` of the crate `tokio`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn tokio_main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::main(Facade::Tokio, true, arguments.into(), item.into()).into()
}

/// `test` of the crate `tokio`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn tokio_test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::test(Facade::Tokio, true, arguments.into(), item.into()).into()
}

/// `main` of the crate `tokio` without multi-thread runtimes.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn tokio_main_current_thread(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::main(Facade::Tokio, false, arguments.into(), item.into()).into()
}

/// `test` of the crate `tokio` without multi-thread runtimes.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn tokio_test_current_thread(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::test(Facade::Tokio, false, arguments.into(), item.into()).into()
}

/// `main` and `test` of a facade without runtimes.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn main_without_runtime(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::without_runtime(item.into()).into()
}

/// Runs a function as a test of a simulation, with many seeds.
///
/// The function takes a `&mut Sim`, adds hosts and faults, and ends with `sim.run()`, or with
/// checks after that. It runs once for each seed, in child processes of the test. If a seed fails,
/// the message says which one, and how to run it alone; `raddle_sim::check` describes more.
///
/// Other attributes of tests, such as `#[should_panic]` and `#[ignore]`, can be added.
///
/// # Arguments
///
/// - `seeds = N`: the number of seeds. Default: 100.
///
/// # Panics
///
/// The test panics if a seed fails.
#[proc_macro_attribute]
pub fn sim_test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    sim::test(arguments.into(), item.into()).into()
}

/// The code of `raddle::select!`, which documents it and passes on, in brackets each: `$crate`,
/// `biased` or nothing, the branches, and the handler of `else` if there is one.
#[doc(hidden)]
#[proc_macro]
pub fn select(input: TokenStream) -> TokenStream {
    select::select(input.into()).into()
}

/// The error for branches that `raddle::select!` cannot read: in brackets what could be read of the
/// first of them, and the rest of the input.
#[doc(hidden)]
#[proc_macro]
pub fn select_mistake(rest: TokenStream) -> TokenStream {
    mistake::select(rest.into()).into()
}

/// The error for futures that `raddle::join!` or `raddle::try_join!` cannot read: the name of the
/// macro, and the rest of the input from the first of them on.
#[doc(hidden)]
#[proc_macro]
pub fn join_mistake(rest: TokenStream) -> TokenStream {
    mistake::join(rest.into()).into()
}

/// The code of `raddle::join!`, which documents it and passes on, in brackets each: `$crate`,
/// `biased` or nothing, and the futures.
#[doc(hidden)]
#[proc_macro]
pub fn join(input: TokenStream) -> TokenStream {
    join::join(input.into()).into()
}

/// The code of `raddle::try_join!`, which documents it and passes on, in brackets each: `$crate`,
/// `biased` or nothing, and the futures.
#[doc(hidden)]
#[proc_macro]
pub fn try_join(input: TokenStream) -> TokenStream {
    join::try_join(input.into()).into()
}
