//! Integration tests of raddle-sim.

mod blocking;
mod differential;
mod disk;
mod faults;
mod programs;
mod recording;
mod seeds;
