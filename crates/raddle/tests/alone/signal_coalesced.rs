//! Many signals before the listener is polled. If the runtime of another test read the pipe in
//! between, the listener would receive a second signal.

use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use crate::alone;
use crate::common::current_thread;
use raddle::signal::unix::{SignalKind, signal};
use raddle::time::timeout;
use signal_hook::low_level::raise;

#[test]
fn signals_raised_before_the_listener_looks_are_received_once() {
    let _alone = alone();
    current_thread().build().unwrap().block_on(async {
        let kind = SignalKind::io();
        let mut signal = signal(kind).unwrap();
        // More signals than fit into the pipe.
        for _ in 0..5_000 {
            raise(kind.as_raw_value()).unwrap();
        }
        let first = timeout(Duration::from_secs(60), signal.recv()).await;
        assert_eq!(first.expect("the signal is received"), Some(()));
        let mut second = pin!(signal.recv());
        let cx = &mut Context::from_waker(Waker::noop());
        assert!(second.as_mut().poll(cx).is_pending());
    });
}
