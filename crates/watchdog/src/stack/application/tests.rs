use std::path::Path;

use super::{LIBRARIES, RADDLE, is_of_library, owns};

/// The first function that belongs to the application.
fn innermost<'a>(frames: &[(&'a str, Option<&str>)]) -> Option<&'a str> {
    let mut frames = frames.iter();
    let is_own = |frame: &&(&str, Option<&str>)| owns(frame.0, frame.1.map(Path::new));
    frames.find(is_own).map(|frame| frame.0)
}

const STD: Option<&str> = Some("/rustc/59807616e/library/std/src/thread/functions.rs");
const AXUM: Option<&str> =
    Some("/home/u/.cargo/registry/src/index.crates.io-1/axum-0.8.4/src/h.rs");
const OWN: Option<&str> = Some("/home/u/shop/src/main.rs");

/// A handler that sleeps, as backtraces of axum show it.
const SLEEPING: [(&str, Option<&str>); 12] = [
    ("clock_nanosleep", None),
    ("std::thread::functions::sleep", STD),
    ("shop::handler::{{closure}}", OWN),
    (
        "<F as axum::handler::Handler<((),),S>>::call::{{closure}}",
        AXUM,
    ),
    (
        "<core::pin::Pin<P> as core::future::future::Future>::poll",
        Some("/rustc/59807616e/library/core/src/future/future.rs"),
    ),
    (
        "<futures_util::future::future::map::Map<Fut,F> as core::future::future::Future>::poll",
        None,
    ),
    (
        "<axum::handler::future::IntoServiceFuture<F> as core::future::future::Future>::poll",
        AXUM,
    ),
    (
        "hyper::proto::h1::dispatch::Dispatcher<D,Bs,I,T>::poll_catch",
        None,
    ),
    (
        "axum::serve::handle_connection::{{closure}}::{{closure}}",
        AXUM,
    ),
    (
        "raddle_task::poll",
        Some("/work/raddle/crates/task/src/poll.rs"),
    ),
    ("shop::main", OWN),
    ("main", None),
];

#[test]
fn the_handler_that_calls_sleep_is_the_frame_of_the_application() {
    assert_eq!(innermost(&SLEEPING), Some("shop::handler::{{closure}}"));
    let without_lines = SLEEPING.map(|(function, _)| (function, None));
    assert_eq!(
        innermost(&without_lines),
        Some("shop::handler::{{closure}}")
    );
}

#[test]
fn a_wrapper_that_names_the_application_in_its_parameters_belongs_to_its_library() {
    for function in [
        "<shop::handler as axum::handler::Handler<((),), ()>>::call",
        "<shop::handler::{closure#0} as axum::handler::Handler<((),), ()>>::call",
        "<shop::main::{closure#1} as core::ops::function::FnOnce<()>>::call_once",
        "core::ops::function::FnOnce::call_once",
        "<alloc::boxed::Box<shop::Service> as core::ops::function::FnMut<()>>::call_mut",
        "<core::pin::Pin<&mut shop::handler::{closure#0}> as core::future::future::Future>::poll",
        "<F as axum::handler::Handler<M,S,T>>::call",
        "<tokio::runtime::task::Core<shop::Job, S>>::poll",
        "core::ptr::drop_in_place::<shop::Connection>",
        "std::sys::backtrace::__rust_begin_short_backtrace",
        "<&mut F as core::future::future::Future>::poll",
        "<(dyn core::ops::function::Fn() -> shop::Page) as core::ops::function::Fn<()>>::call",
        "tower_http::trace::Trace<shop::Service>::call",
        "raddle_sched::worker::core::Core::run",
        "raddle::runtime::Runtime::block_on",
    ] {
        assert!(!owns(function, None), "{function}");
    }
}

#[test]
fn methods_of_the_applications_types_and_traits_belong_to_it() {
    for function in [
        "<shop::Service as tower_service::Service<http::Request>>::call",
        "<shop::Service<S> as tower_service::Service<R>>::call::{{closure}}",
        "<shop::Worker>::run",
        "shop::Worker<T>::run",
        "<T as shop::Describe>::describe",
        "<alloc::vec::Vec<T> as shop::Describe>::describe",
        "<&shop::Service as core::fmt::Display>::fmt",
        "shop::model::<impl serde::Serialize for shop::model::Order>::serialize",
        "raddle_shop::main",
        "tokio_chat::serve::{closure#0}",
        "tracing_demo::work",
    ] {
        assert!(owns(function, None), "{function}");
        assert!(owns(function, OWN.map(Path::new)), "{function}");
    }
}

#[test]
fn a_file_of_a_library_decides() {
    let vendored = Some(Path::new("/home/u/shop/vendor/image/src/png.rs"));
    let checked_out = Some(Path::new(
        "/home/u/.cargo/git/checkouts/image-1/a/src/png.rs",
    ));
    let installed = Some(Path::new(
        "/home/u/.rustup/lib/rustlib/src/rust/library/std/src/a.rs",
    ));
    for file in [vendored, checked_out, installed, AXUM.map(Path::new)] {
        assert!(!owns("image::png::decode", file), "{file:?}");
    }
    assert!(owns("image::png::decode", OWN.map(Path::new)));
}

#[test]
fn functions_without_a_path_belong_to_the_application_if_their_file_does() {
    assert!(owns("shop_callback", OWN.map(Path::new)));
    for (function, file) in [
        ("shop_callback", None),
        ("epoll_wait", None),
        ("deflate", Some("/home/u/shop/target/build/zlib/deflate.c")),
        ("__rust_try", OWN),
    ] {
        assert!(!owns(function, file.map(Path::new)), "{function}");
    }
}

#[test]
fn the_lists_are_sorted() {
    assert!(LIBRARIES.is_sorted() && RADDLE.is_sorted());
}

#[test]
fn a_frame_without_a_path_is_distinguished_by_its_line() {
    let frame = |function: &str| super::super::StackFrame {
        address: 1,
        function: Some(function.to_owned()),
        file: Some("src/main.rs".into()),
        line: Some(7),
    };
    let place = |function| frame(function).place().unwrap();
    assert_eq!(place("shop::list::{{closure}}"), "shop::list::{{closure}}");
    assert_eq!(place("{async_fn#0}"), "{async_fn#0} at src/main.rs:7");
}

#[test]
fn a_wrapper_into_which_a_handler_is_inlined_is_one_of_a_library() {
    assert!(is_of_library(
        "<F as axum::handler::Handler<((),),S>>::call::{{closure}}"
    ));
    assert!(is_of_library(
        "<shop::list as axum::handler::Handler<((),), ()>>::call::{closure#0}"
    ));
    for function in [
        "std::thread::functions::sleep",
        "clock_nanosleep",
        "core::hint::spin_loop",
    ] {
        assert!(!is_of_library(function), "{function}");
    }
}

/// Line tables name an inlined function without its path.
#[test]
fn sources_of_raddle_are_those_of_a_library_in_any_directory() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let is_own = |file: &str| owns("poll", Some(&crates.join(file)));
    assert!(!is_own("leaf/src/coop/budget.rs"));
    assert!(is_own("raddle/tests/stacks/watchdog.rs"));
    assert!(is_own("raddle/examples/slow_service/held_lock.rs"));
}

#[test]
fn a_function_of_raddle_is_no_place_of_a_slow_poll() {
    assert!(is_of_library("sqlx_core::pool::acquire"));
    assert!(!is_of_library("raddle_console::table::Table::set_activity"));
    assert!(!is_of_library("std::thread::sleep"));
}
