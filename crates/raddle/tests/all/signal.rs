//! Signals that the process sends to itself. A test that expects no signal has a kind of its own,
//! which no other test of the process sends.

use std::io::ErrorKind;
use std::time::Duration;

use crate::common::{current_thread, each_flavor, multi_thread, panic_message};
use raddle::signal::ctrl_c;
use raddle::signal::unix::{Signal, SignalKind, signal};
use raddle::time::timeout;
use signal_hook::low_level::raise;

/// A test that takes longer has hung.
const LIMIT: Duration = Duration::from_secs(60);

fn send(kind: SignalKind) {
    raise(kind.as_raw_value()).unwrap();
}

async fn assert_received(signal: &mut Signal) {
    let received = timeout(LIMIT, signal.recv()).await;
    assert_eq!(received.expect("the signal is not received"), Some(()));
}

#[test]
fn a_signal_is_received() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let mut signal = signal(SignalKind::user_defined1()).unwrap();
            for _ in 0..20 {
                send(SignalKind::user_defined1());
                assert_received(&mut signal).await;
            }
            let waiting = raddle::spawn(async move { signal.recv().await });
            raddle::task::yield_now().await;
            send(SignalKind::user_defined1());
            assert_eq!(timeout(LIMIT, waiting).await.unwrap().unwrap(), Some(()));
        });
    });
}

#[test]
fn every_listener_in_every_runtime_receives_the_signal() {
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
                assert_received(listener).await;
            }
        });
    }
}

#[test]
fn a_dropped_listener_leaves_the_others_registered() {
    current_thread().build().unwrap().block_on(async {
        let kind = SignalKind::window_change();
        let first = signal(kind).unwrap();
        let mut second = signal(kind).unwrap();
        drop(first);
        send(kind);
        assert_received(&mut second).await;
        drop(second);
        send(kind);
        let mut third = signal(kind).unwrap();
        send(kind);
        assert_received(&mut third).await;
    });
}

/// The runtime reads the signal, since no listener waits for it.
#[test]
fn a_signal_between_two_listeners_is_not_kept() {
    current_thread().build().unwrap().block_on(async {
        let kind = SignalKind::alarm();
        drop(signal(kind).unwrap());
        send(kind);
        raddle::time::sleep(Duration::from_millis(20)).await;
        let mut second = signal(kind).unwrap();
        let late = timeout(Duration::from_millis(20), second.recv()).await;
        assert!(late.is_err());
        send(kind);
        assert_received(&mut second).await;
    });
}

/// A runtime delivers signals to its own listeners, even while another runtime, whose listener was
/// registered first, is not driven.
#[test]
fn an_idle_runtime_does_not_keep_signals_from_another() {
    let runtimes = [(); 2].map(|()| current_thread().build().unwrap());
    let kind = SignalKind::quit();
    let mut listeners = runtimes.each_ref().map(|runtime| {
        let _guard = runtime.enter();
        signal(kind).unwrap()
    });
    for _ in 0..10 {
        send(kind);
        for at in [1, 0] {
            runtimes[at].block_on(assert_received(&mut listeners[at]));
        }
    }
}

/// All runtimes read one pipe: the first that reads a signal delivers it to the listeners of all.
#[cfg(target_os = "linux")]
#[test]
fn runtimes_that_read_concurrently_lose_no_signal() {
    const RUNTIMES: usize = 4;
    const ROUNDS: usize = 500;
    // A real-time signal, which nothing else uses.
    let kind = SignalKind::from_raw(40);
    let (progress, all_progress) = std::sync::mpsc::channel();
    let threads: Vec<_> = (0..RUNTIMES)
        .map(|_| {
            let progress = progress.clone();
            std::thread::spawn(move || {
                current_thread().build().unwrap().block_on(async {
                    let mut listeners = [(); 3].map(|()| signal(kind).unwrap());
                    progress.send(()).unwrap();
                    for _ in 0..ROUNDS {
                        for listener in &mut listeners {
                            assert_received(listener).await;
                        }
                        progress.send(()).unwrap();
                    }
                });
            })
        })
        .collect();
    drop(progress);
    for round in 0..=ROUNDS {
        for _ in 0..RUNTIMES {
            all_progress
                .recv()
                .expect("each listener receives the signal");
        }
        if round < ROUNDS {
            send(kind);
        }
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn a_number_that_is_no_signal_is_an_error() {
    current_thread().build().unwrap().block_on(async {
        for number in [-1, 0, 127, 128, 1_000_000, i32::MIN, i32::MAX] {
            assert!(signal(SignalKind::from_raw(number)).is_err(), "{number}");
        }
        // Other signals still arrive.
        let mut signal = signal(SignalKind::window_change()).unwrap();
        send(SignalKind::window_change());
        assert_received(&mut signal).await;
    });
}

#[test]
fn a_cancelled_wait_loses_nothing() {
    current_thread().build().unwrap().block_on(async {
        let kind = SignalKind::io();
        let mut signal = signal(kind).unwrap();
        {
            let mut cancelled = std::pin::pin!(signal.recv());
            let cx = &mut std::task::Context::from_waker(std::task::Waker::noop());
            assert!(cancelled.as_mut().poll(cx).is_pending());
            send(kind);
        }
        assert_received(&mut signal).await;
    });
}

#[test]
fn ctrl_c_is_received() {
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

/// Bug: own. As with Tokio.
#[test]
fn listening_to_a_forbidden_signal_or_to_none_is_an_error_of_the_kind_other() {
    current_thread().build().unwrap().block_on(async {
        for number in [9, 19, 4, 8, 11, 0, -1, 1000, i32::MIN, i32::MAX] {
            let error = signal(SignalKind::from_raw(number)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Other, "{number}: {error}");
        }
        #[cfg(target_os = "linux")]
        {
            let error = signal(SignalKind::from_raw(libc::SIGRTMAX() + 1)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Other, "{error}");
            // Reserved by the C library.
            let error = signal(SignalKind::from_raw(32)).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EINVAL), "{error}");
        }
    });
    assert_eq!(i32::from(SignalKind::from(3)), 3);
}

/// A program error is reported before a wrong number.
#[test]
fn listening_to_a_forbidden_signal_outside_a_runtime_panics() {
    let message = panic_message(|| signal(SignalKind::from_raw(9)));
    assert!(message.contains("enable_io"), "{message}");
}
