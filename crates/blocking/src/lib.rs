//! A thread pool for blocking work that grows on demand and shrinks when idle.
