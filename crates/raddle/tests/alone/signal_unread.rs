//! A signal that arrives before its listener is created. The runtimes of other tests would read it.

use std::time::Duration;

use crate::alone;
use crate::common::current_thread;
use raddle::signal::unix::{Signal, SignalKind, signal};
use raddle::time::timeout;
use signal_hook::low_level::raise;

async fn assert_received(signal: &mut Signal) {
    let received = timeout(Duration::from_secs(60), signal.recv()).await;
    assert_eq!(received.expect("the signal is not received"), Some(()));
}

/// As with Tokio.
#[test]
fn an_unread_signal_reaches_a_new_listener() {
    let _alone = alone();
    current_thread().build().unwrap().block_on(async {
        let kind = SignalKind::alarm();
        let mut first = signal(kind).unwrap();
        raise(kind.as_raw_value()).unwrap();
        let mut second = signal(kind).unwrap();
        assert_received(&mut first).await;
        assert_received(&mut second).await;
        // The signal has been read by now.
        let mut third = signal(kind).unwrap();
        let late = timeout(Duration::from_millis(20), third.recv()).await;
        assert!(late.is_err());
    });
}
