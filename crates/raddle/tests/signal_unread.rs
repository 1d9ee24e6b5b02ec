//! A signal that came before its listener. A test for itself, for the runtimes of
//! others would read it.
#![cfg(all(unix, not(raddle_loom)))]

mod common;

use std::time::Duration;

use common::current_thread;
use raddle::signal::unix::{Signal, SignalKind, signal};
use raddle::time::timeout;
use signal_hook::low_level::raise;

async fn hear(signal: &mut Signal) {
    let heard = timeout(Duration::from_secs(60), signal.recv()).await;
    assert_eq!(heard.expect("the signal is heard"), Some(()));
}

/// Tokio's does so, too.
#[test]
fn an_unread_signal_reaches_a_new_listener() {
    current_thread().build().unwrap().block_on(async {
        let kind = SignalKind::alarm();
        let mut first = signal(kind).unwrap();
        raise(kind.as_raw_value()).unwrap();
        let mut second = signal(kind).unwrap();
        hear(&mut first).await;
        hear(&mut second).await;
        // It has been read now.
        let mut third = signal(kind).unwrap();
        let late = timeout(Duration::from_millis(20), third.recv()).await;
        assert!(late.is_err());
    });
}
