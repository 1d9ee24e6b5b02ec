//! The attribute macros of Raddle: main and test.
