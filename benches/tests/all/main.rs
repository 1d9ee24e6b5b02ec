//! Tests of the programs that measure.

mod servers;
