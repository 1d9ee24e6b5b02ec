use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Wake;

use super::*;

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// One test, since an event affects all listeners of the process.
#[test]
fn each_listener_of_an_event_receives_it_once() {
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut cx = Context::from_waker(&waker);
    let first = Listener::new(Event::CtrlC).unwrap();
    let second = Listener::new(Event::CtrlC).unwrap();
    let other = Listener::new(Event::CtrlBreak).unwrap();
    for listener in [&first, &second, &other] {
        assert!(listener.poll(&mut cx).is_pending());
    }
    assert!(deliver(Event::CtrlC));
    assert_eq!(count.0.load(SeqCst), 2);
    assert!(deliver(Event::CtrlC));
    for listener in [&first, &second] {
        assert!(listener.poll(&mut cx).is_ready());
        assert!(listener.poll(&mut cx).is_pending());
    }
    assert!(other.poll(&mut cx).is_pending());
    drop((first, second));
    // Without listeners, the event's default action is not prevented.
    assert!(!deliver(Event::CtrlC));
    assert!(deliver(Event::CtrlBreak));
}

#[test]
fn each_console_event_code_maps_to_its_event() {
    for (code, event) in [
        (0, Event::CtrlC),
        (1, Event::CtrlBreak),
        (2, Event::Close),
        (5, Event::Logoff),
        (6, Event::Shutdown),
    ] {
        assert_eq!(Event::from_code(code), Some(event));
    }
    assert_eq!(Event::from_code(3), None);
}
