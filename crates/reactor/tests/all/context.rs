//! The reactor of a handle, and the current reactor of a thread.

use std::panic::catch_unwind;

use raddle_primitives::current::{self, HandleFrame};
use raddle_reactor::{Handle, Reactor};

#[test]
fn an_inner_guard_hides_the_outer_reactor() {
    let reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    assert!(Handle::try_current().is_none());
    let outer = handle.enter();
    assert!(Handle::try_current().is_some());
    {
        let _none = current::enter(HandleFrame(None::<Handle>));
        let panic =
            catch_unwind(|| drop(Handle::current())).expect_err("Handle::current did not panic");
        assert!(panic.is::<&str>() || panic.is::<String>());
        let _inner = handle.enter();
        assert!(Handle::try_current().is_some());
    }
    assert!(Handle::try_current().is_some());
    drop(outer);
    assert!(Handle::try_current().is_none());
}

#[test]
fn handles_are_of_the_same_reactor_only_if_one_is_a_clone_of_the_other() {
    let reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    assert!(handle.is_same_reactor(&reactor.handle()));
    assert!(!handle.is_same_reactor(&Reactor::new().unwrap().handle()));
}
