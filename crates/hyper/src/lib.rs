#![doc = include_str!("../README.md")]

mod executor;
mod io;
mod timer;

pub use crate::executor::RaddleExecutor;
pub use crate::io::RaddleIo;
pub use crate::timer::{RaddleSleep, RaddleTimer};
