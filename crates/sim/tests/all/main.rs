//! Integration tests of raddle-sim.

mod blocking;
mod differential;
mod disk;
mod faults;
mod keep_alive;
mod network;
mod programs;
mod recording;
mod regressions;
mod seeds;
