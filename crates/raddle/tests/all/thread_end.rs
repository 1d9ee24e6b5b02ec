//! Thread-local variables that use a runtime when their thread ends. The runtime's own thread-local
//! variables are destroyed by then, since they were initialised later.

use std::any::Any;
use std::cell::RefCell;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;

use crate::common::{Live, current_thread, each_flavor, eventually, multi_thread};
use raddle::runtime::{Builder, Handle, Runtime};
use raddle::time::{Duration, sleep};

thread_local! {
    static RUNTIME: RefCell<Option<Runtime>> = const { RefCell::new(None) };
    static LAST: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
}

fn ends_with_its_thread(mut builder: Builder) {
    let count = Arc::new(AtomicUsize::new(0));
    let live = Live::new(&count);
    let thread = std::thread::spawn(move || {
        RUNTIME.with_borrow_mut(|runtime| {
            let runtime = runtime.insert(builder.build().unwrap());
            runtime.spawn(async move {
                let _live = live;
                pending::<()>().await;
            });
            runtime.block_on(sleep_a_little());
        });
    });
    thread.join().unwrap();
    assert_eq!(count.load(SeqCst), 0);
}

async fn sleep_a_little() {
    sleep(Duration::from_millis(1)).await;
}

#[test]
fn a_current_thread_runtime_in_a_thread_local_is_dropped_with_its_thread() {
    ends_with_its_thread(current_thread());
}

#[test]
#[cfg_attr(
    windows,
    ignore = "a thread that ends there must not wait for another: see LocalKey"
)]
fn a_multi_thread_runtime_in_a_thread_local_is_dropped_with_its_thread() {
    ends_with_its_thread(multi_thread());
}

/// Uses a runtime in its drop.
struct Uses(Handle, Box<dyn Fn()>);

impl Drop for Uses {
    fn drop(&mut self) {
        let _current = self.0.enter();
        // Whether a runtime is current at this point depends on the platform.
        let _ = Handle::try_current();
        assert_eq!(self.0.block_on(async { 5 }), 5);
        (self.1)();
    }
}

#[test]
fn the_destructor_of_a_thread_local_may_use_a_runtime() {
    each_flavor(|runtime| {
        let handle = runtime.handle().clone();
        let (sender, receiver) = channel();
        let thread = std::thread::spawn(move || {
            let spawn = {
                let handle = handle.clone();
                move || {
                    let senders = (sender.clone(), sender.clone());
                    handle.spawn(async move {
                        sleep_a_little().await;
                        senders.0.send(()).unwrap();
                    });
                    handle.spawn_blocking(move || senders.1.send(()).unwrap());
                }
            };
            let last = Uses(handle.clone(), Box::new(spawn));
            LAST.set(Some(Box::new(last)));
            drop(handle.enter());
        });
        thread.join().unwrap();
        let mut done = 0;
        eventually(
            "the tasks that were spawned at the thread's end run",
            || {
                // A current-thread runtime runs its tasks in here.
                runtime.block_on(sleep_a_little());
                done += receiver.try_iter().count();
                done == 2
            },
        );
    });
}
