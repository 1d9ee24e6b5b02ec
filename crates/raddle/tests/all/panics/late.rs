//! Panics of futures: polled after they have completed or their runtime has shut down, or polled
//! where the runtime is missing.

use std::future::pending;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use raddle::io::{
    self, AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufReader, BufWriter,
};
use raddle::runtime::{Builder, Handle, Runtime, UnhandledPanic};
use raddle::sync::{mpsc, oneshot};
use raddle::task;
use raddle::time::{self, Duration};

use super::{Case, SOON, assert_each_names_its_line, on_bare, on_full, outside, runtime};
use crate::common::{current_thread, panic_message};

raddle::task_local! {
    static NUMBER: u32;
}

fn assert_all(cases: &[Case]) {
    assert_each_names_its_line(file!(), include_str!("late.rs"), cases);
}

/// A file that was opened in a runtime which is gone.
fn file() -> raddle::fs::File {
    let file = tempfile::tempfile().unwrap();
    raddle::fs::File::from_std(file)
}

/// What `make` makes in a runtime that has shut down since.
fn made_before_shutdown<T>(make: impl FnOnce() -> T) -> T {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let _guard = runtime.enter();
    make()
}

/// An interval whose first tick is not due yet.
fn later() -> time::Interval {
    time::interval_at(time::Instant::now() + Duration::from_secs(60), SOON)
}

fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn files_outside_a_runtime() {
    assert_all(&[
        ("read", || {
            outside(async { file().read(&mut [0; 9]).await });
        }),
        ("read_exact", || {
            outside(async { file().read_exact(&mut [0; 9]).await });
        }),
        ("read_to_end", || {
            outside(async { file().read_to_end(&mut Vec::new()).await });
        }),
        ("read_to_string", || {
            outside(async { file().read_to_string(&mut String::new()).await });
        }),
        ("read_u8", || outside(async { file().read_u8().await })),
        ("seek", || {
            outside(async { file().seek(io::SeekFrom::Start(1)).await });
        }),
        ("write", || outside(async { file().write(b"a").await })),
        ("write_all", || {
            outside(async { file().write_all(b"a").await });
        }),
        ("write_u16", || outside(async { file().write_u16(1).await })),
        ("io::stdout().write_all", || {
            outside(async { io::stdout().write_all(b"a").await });
        }),
        ("BufReader::read_line", || {
            let mut reader = BufReader::new(file());
            outside(async { reader.read_line(&mut String::new()).await });
        }),
        ("BufReader::fill_buf", || {
            let mut reader = BufReader::new(file());
            outside(async { reader.fill_buf().await.map(drop) });
        }),
        ("Lines::next_line", || {
            let mut lines = BufReader::new(file()).lines();
            outside(async { lines.next_line().await });
        }),
        ("Split::next_segment", || {
            let mut split = BufReader::new(file()).split(0);
            outside(async { split.next_segment().await });
        }),
        ("BufWriter::flush", || {
            let mut writer = BufWriter::new(file());
            outside(async { writer.write(b"a").await });
            outside(async { writer.flush().await });
        }),
        ("BufWriter::shutdown", || {
            let mut writer = BufWriter::new(file());
            outside(async { writer.write(b"a").await });
            outside(async { writer.shutdown().await });
        }),
        ("io::copy", || {
            outside(async { io::copy(&mut file(), &mut io::sink()).await });
        }),
        ("io::copy_buf", || {
            let mut reader = BufReader::new(file());
            outside(async { io::copy_buf(&mut reader, &mut io::sink()).await });
        }),
    ]);
    let mut file = file();
    let polled = poll(pin!(io::AsyncWriteExt::write(&mut file, b"")));
    assert!(
        matches!(polled, Poll::Ready(Ok(0))),
        "nothing needs a runtime"
    );
}

#[test]
fn timers_after_the_shutdown() {
    assert_all(&[
        ("slept.await", || {
            let slept = made_before_shutdown(|| time::sleep(SOON));
            outside(async {
                slept.await;
            });
        }),
        ("limited.await", || {
            let limited = made_before_shutdown(|| time::timeout(SOON, pending::<()>()));
            outside(async { _ = limited.await });
        }),
        ("Interval::tick", || {
            let mut interval = made_before_shutdown(later);
            outside(async { interval.tick().await });
        }),
        ("Interval::poll_tick", || {
            let mut interval = made_before_shutdown(later);
            _ = interval.poll_tick(&mut Context::from_waker(Waker::noop()));
        }),
    ]);
}

#[test]
fn what_needs_timers_without_timers() {
    assert_all(&[("mpsc::Sender::send_timeout", || {
        let (sender, _receiver) = mpsc::channel(1);
        on_bare(async { _ = sender.send_timeout(1, SOON).await });
    })]);
    let (sender, _receiver) = mpsc::channel(1);
    let message = panic_message(|| outside(sender.send_timeout(1, SOON)));
    assert!(message.contains("send_timeout needs timers"), "{message}");
}

#[test]
fn futures_that_have_completed() {
    assert_all(&[
        ("received.await", || {
            let (sender, mut received) = oneshot::channel();
            sender.send(1).unwrap();
            outside(async { _ = (&mut received).await });
            outside(async { _ = received.await });
        }),
        ("oneshot::Receiver::blocking_recv", || {
            let (sender, mut receiver) = oneshot::channel();
            sender.send(1).unwrap();
            outside(async { _ = (&mut receiver).await });
            _ = receiver.blocking_recv();
        }),
        ("aborting.await", || {
            on_full(async {
                let mut aborting = raddle::spawn(async {}).abort_on_drop();
                _ = (&mut aborting).await;
                _ = aborting.await;
            });
        }),
        ("scoped.as_mut().poll", || {
            let mut scoped = pin!(NUMBER.scope(1, async {}));
            _ = poll(scoped.as_mut());
            let mut cx = Context::from_waker(Waker::noop());
            _ = scoped.as_mut().poll(&mut cx);
        }),
        ("filled.as_mut().poll", || {
            let mut reader = &b"a"[..];
            let mut filled = pin!(reader.fill_buf());
            _ = poll(filled.as_mut());
            let mut cx = Context::from_waker(Waker::noop());
            _ = filled.as_mut().poll(&mut cx);
        }),
        ("output.await", || {
            on_full(task::scope(async |scope| {
                let mut output = scope.spawn(async {});
                (&mut output).await;
                output.await;
            }));
        }),
    ]);
}

#[test]
fn scopes_of_runtimes() {
    assert_all(&[
        ("Runtime::scope", || {
            let inner = runtime();
            on_bare(async { inner.scope(async |_| ()) });
        }),
        ("Handle::scope", || {
            on_full(async { Handle::current().scope(async |_| ()) });
        }),
    ]);
    let runtime = runtime();
    let message = panic_message(|| runtime.scope(async |scope| scope.spawn(fails()).await));
    assert_eq!(message, "mine", "the first panic is returned");
}

async fn fails() {
    panic!("mine")
}

#[test]
fn a_runtime_that_a_panic_has_shut_down() {
    fn stopped(builder: &mut Builder) -> Runtime {
        let runtime = builder
            .unhandled_panic(UnhandledPanic::ShutdownRuntime)
            .build()
            .unwrap();
        runtime.spawn(fails());
        runtime
    }
    assert_all(&[
        ("Runtime::block_on", || {
            let runtime = stopped(&mut current_thread());
            runtime.block_on(pending::<()>());
        }),
        ("Runtime::block_on of several threads", || {
            let runtime = stopped(&mut crate::common::multi_thread());
            runtime.block_on(pending::<()>(/* Runtime::block_on of several threads */));
        }),
        ("Handle::block_on", || {
            let runtime = stopped(&mut crate::common::multi_thread());
            std::thread::sleep(Duration::from_millis(1));
            runtime.handle().block_on(pending::<()>());
        }),
    ]);
}
