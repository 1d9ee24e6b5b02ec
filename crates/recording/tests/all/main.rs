//! Tests of the file format, the analyses, the exports and the program.

mod analysis;
mod format;
mod perfetto;
mod program;
