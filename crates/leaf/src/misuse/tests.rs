use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::panic::{self, AssertUnwindSafe};

use super::{Misuse, at_caller, io_at_caller};

#[track_caller]
fn misused() -> impl Future<Output = ()> {
    at_caller(async { Err(Misuse::new("wrong; do right")) }, |output| {
        output
    })
}

/// Returns the text of the panic of `f`, with the file and the line of its location.
fn panic_of(f: impl FnOnce()) -> (String, String, u32) {
    thread_local! {
        static PLACE: RefCell<(String, u32)> = const { RefCell::new((String::new(), 0)) };
    }
    let former = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        let location = info.location().unwrap();
        PLACE.set((location.file().to_owned(), location.line()));
    }));
    let payload = panic::catch_unwind(AssertUnwindSafe(f)).unwrap_err();
    panic::set_hook(former);
    let (file, line) = PLACE.take();
    (*payload.downcast().unwrap(), file, line)
}

#[test]
fn the_panic_is_at_the_await_or_names_the_call() {
    let line = line!() + 1;
    let awaited = async { misused().await };
    let (text, file, at) = panic_of(|| raddle_testing::block_on(awaited));
    assert_eq!((&*text, &*file, at), ("wrong; do right", file!(), line));

    let line = line!() + 1;
    let (text, file, _) = panic_of(|| raddle_testing::block_on(misused()));
    assert_ne!(file, file!());
    let called = format!("wrong; do right (called at {}:{line}:", file!());
    assert!(text.starts_with(&called), "{text}");
}

#[test]
fn only_a_misuse_panics() {
    let result = |error: io::Error| {
        let future = io_at_caller(async { Err::<(), _>(error) });
        panic::catch_unwind(AssertUnwindSafe(|| raddle_testing::block_on(future)))
    };
    let error = result(io::Error::from_raw_os_error(2))
        .unwrap()
        .unwrap_err();
    assert_eq!(error.raw_os_error(), Some(2));
    let error = result(io::Error::other("inner")).unwrap().unwrap_err();
    assert_eq!(error.to_string(), "inner");
    assert!(result(Misuse::new("wrong; do right").into()).is_err());
}
