//! Signals, sent by the process to itself.
#![cfg(all(unix, not(raddle_loom)))]

mod common;

use std::time::Duration;

use common::{current_thread, each_flavor, multi_thread, panic_message};
use raddle::runtime::Builder;
use raddle::signal::ctrl_c;
use raddle::signal::unix::{Signal, SignalKind, signal};
use raddle::time::timeout;
use signal_hook::low_level::raise;

/// Long enough for anything but a hang.
const LIMIT: Duration = Duration::from_secs(60);

fn send(kind: SignalKind) {
    raise(kind.as_raw_value()).unwrap();
}

async fn hear(signal: &mut Signal) {
    let heard = timeout(LIMIT, signal.recv()).await;
    assert_eq!(heard.expect("the signal is heard"), Some(()));
}

#[test]
fn a_signal_is_heard() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let mut signal = signal(SignalKind::user_defined1()).unwrap();
            for _ in 0..20 {
                send(SignalKind::user_defined1());
                hear(&mut signal).await;
            }
            let waiting = raddle::spawn(async move { signal.recv().await });
            raddle::task::yield_now().await;
            send(SignalKind::user_defined1());
            assert_eq!(timeout(LIMIT, waiting).await.unwrap().unwrap(), Some(()));
        });
    });
}

#[test]
fn every_listener_in_every_runtime_hears_it() {
    let runtimes = [
        multi_thread().build().unwrap(),
        current_thread().build().unwrap(),
        current_thread().build().unwrap(),
    ];
    let mut listeners: Vec<_> = runtimes
        .iter()
        .map(|runtime| {
            let _guard = runtime.enter();
            [(); 2].map(|()| signal(SignalKind::hangup()).unwrap())
        })
        .collect();
    send(SignalKind::hangup());
    for (runtime, listeners) in runtimes.iter().zip(&mut listeners) {
        runtime.block_on(async {
            for listener in listeners {
                hear(listener).await;
            }
        });
    }
}

#[test]
fn a_listener_that_goes_leaves_the_others() {
    current_thread().build().unwrap().block_on(async {
        let kind = SignalKind::window_change();
        let first = signal(kind).unwrap();
        let mut second = signal(kind).unwrap();
        drop(first);
        send(kind);
        hear(&mut second).await;
        drop(second);
        send(kind);
        let mut third = signal(kind).unwrap();
        send(kind);
        hear(&mut third).await;
    });
}

#[test]
fn signals_that_nobody_takes_are_one() {
    current_thread().build().unwrap().block_on(async {
        let kind = SignalKind::io();
        let mut signal = signal(kind).unwrap();
        // More than the listener has room for.
        for _ in 0..5_000 {
            send(kind);
        }
        hear(&mut signal).await;
        let mut again = std::pin::pin!(signal.recv());
        let cx = &mut std::task::Context::from_waker(std::task::Waker::noop());
        assert!(again.as_mut().poll(cx).is_pending());
    });
}

#[test]
fn a_cancelled_wait_loses_nothing() {
    current_thread().build().unwrap().block_on(async {
        let kind = SignalKind::user_defined2();
        let mut signal = signal(kind).unwrap();
        {
            let mut cancelled = std::pin::pin!(signal.recv());
            let cx = &mut std::task::Context::from_waker(std::task::Waker::noop());
            assert!(cancelled.as_mut().poll(cx).is_pending());
            send(kind);
        }
        hear(&mut signal).await;
    });
}

#[test]
fn ctrl_c_is_heard() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let mut pressed = std::pin::pin!(ctrl_c());
            let cx = &mut std::task::Context::from_waker(std::task::Waker::noop());
            assert!(pressed.as_mut().poll(cx).is_pending());
            send(SignalKind::interrupt());
            timeout(LIMIT, pressed).await.unwrap().unwrap();
        });
    });
}

#[test]
fn the_end_of_the_runtime_ends_the_wait() {
    let first = current_thread().build().unwrap();
    let mut signal = first.block_on(async { signal(SignalKind::alarm()).unwrap() });
    drop(first);
    let second = current_thread().build().unwrap();
    assert_eq!(second.block_on(signal.recv()), None);
}

#[test]
fn what_cannot_be_heard_is_an_error() {
    current_thread().build().unwrap().block_on(async {
        for number in [9, 19, 4, 8, 11, 0, -1, 1000] {
            assert!(signal(SignalKind::from_raw(number)).is_err(), "{number}");
        }
    });
    assert_eq!(i32::from(SignalKind::from(3)), 3);
}

#[test]
fn without_io_it_says_what_to_do() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let message = runtime.block_on(async { panic_message(|| signal(SignalKind::quit())) });
    assert!(message.contains("enable_io"), "{message}");
}
