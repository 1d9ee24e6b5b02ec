//! Benchmarks of Raddle beside other runtimes.
