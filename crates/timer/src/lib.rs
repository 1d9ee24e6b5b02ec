//! A hierarchical timer wheel with a real or virtual clock, and the futures over it.
