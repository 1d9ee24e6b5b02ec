//! Wrappers and functions for streams, and streams in memory.

mod copy;
mod copy_bidirectional;
mod copy_buf;
mod counted;
mod duplex;
mod empty;
mod join;
mod pipe;
mod repeat;
mod simplex;
mod sink;
mod split;

pub use copy::copy;
pub use copy_bidirectional::{copy_bidirectional, copy_bidirectional_with_sizes};
pub use copy_buf::copy_buf;
pub use counted::Counted;
pub use duplex::{DuplexStream, duplex};
pub use empty::{Empty, empty};
pub use join::{Join, join};
pub use repeat::{Repeat, repeat};
pub use simplex::{SimplexStream, simplex};
pub use sink::{Sink, sink};
pub use split::{ReadHalf, WriteHalf, split};

pub(crate) use raddle_leaf::coop::poll_consume_budget;
