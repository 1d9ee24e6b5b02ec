//! Tests of the recorder, the file format, the analyses, the exports and the program.
#![cfg(not(raddle_loom))]

mod analysis;
mod format;
mod perfetto;
mod program;
mod recorder;
