//! A bounded work-stealing run queue, a stealable next-task slot and an intrusive injection queue.
