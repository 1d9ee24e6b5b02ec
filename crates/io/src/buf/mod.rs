//! Buffers around readers and writers.

mod buf_reader;
mod buf_stream;
mod buf_writer;
mod seek;

pub use buf_reader::BufReader;
pub use buf_stream::BufStream;
pub use buf_writer::BufWriter;

/// The default size of a buffer, in bytes.
const DEFAULT_CAPACITY: usize = 8 * 1024;
