//! Tests of the programs that measure.

mod report;
mod servers;
