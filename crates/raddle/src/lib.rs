//! A work-stealing async runtime in layers, with the API a Tokio user knows.
