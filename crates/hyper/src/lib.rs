//! Adapters that let hyper 1 run on Raddle.
