//! A deadlock of two tasks.

use std::sync::Arc;

use raddle::runtime::Runtime;
use raddle::sync::{Barrier, Mutex};

/// Spawns two tasks that each lock a mutex and then wait for the other's mutex. Returns the mutex
/// of the first task.
pub(crate) fn spawn(runtime: &Runtime) -> Arc<Mutex<()>> {
    let locks = [Arc::new(Mutex::new(())), Arc::new(Mutex::new(()))];
    let both = Arc::new(Barrier::new(2));
    for number in 0..2 {
        let (own, other) = (locks[number].clone(), locks[1 - number].clone());
        let both = both.clone();
        runtime.spawn(async move {
            let _own = own.lock().await;
            both.wait().await;
            let _other = other.lock().await;
        });
    }
    locks[0].clone()
}
