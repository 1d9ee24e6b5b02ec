//! Recordings in the formats of other tools.

mod folded;
mod perfetto;
mod protobuf;

pub use folded::folded_stacks;
pub use perfetto::perfetto_trace;
