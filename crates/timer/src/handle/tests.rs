use super::*;
use crate::{Timers, sleep};

#[test]
fn a_dropped_timer_leaves_its_reference_for_the_next() {
    let timers = Timers::new(std::sync::Arc::new(|| {}));
    let handle = timers.handle();
    let entered = handle.enter();
    let references = || Arc::strong_count(&handle.0);
    let before = references();
    drop(sleep(Duration::from_millis(1)));
    assert_eq!(references(), before + 1, "kept for the next timer");
    let (first, second) = (
        sleep(Duration::from_millis(1)),
        sleep(Duration::from_millis(1)),
    );
    assert_eq!(
        references(),
        before + 2,
        "the first has the one that was kept"
    );
    drop((first, second));
    assert_eq!(references(), before + 1, "one is kept, not two");
    drop(entered);
    assert_eq!(
        references(),
        before - 1,
        "gone with the handle that was entered"
    );
}
