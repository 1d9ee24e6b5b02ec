//! A task cell of one allocation with a vtable waker, a join handle and an abort handle.
