//! Auto traits: which types can be sent to other threads or shared with them.

use std::rc::Rc;

use raddle_blocking::{Config, Handle, Job, Pool, SubmitError};
use static_assertions::{assert_impl_all, assert_not_impl_any};

type Closure = Box<dyn FnOnce() + Send>;

assert_impl_all!(Pool<Closure>: Send, Sync, Unpin);
assert_impl_all!(Handle<Closure>: Send, Sync, Unpin, Clone);
assert_impl_all!(Config: Send, Sync);
assert_impl_all!(SubmitError<Closure>: Send);

// A job must be `Send`, because it runs on a thread of the pool.
assert_impl_all!(Closure: Job);
assert_not_impl_any!(Box<dyn FnOnce()>: Job);
assert_not_impl_any!(SubmitError<Rc<u8>>: Send);

/// The assertions above are made by the compiler.
#[test]
fn auto_traits_are_as_asserted_above() {}
