//! A work-stealing worker pool and a current-thread scheduler built of steppable workers.
