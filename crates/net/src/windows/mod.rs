//! Types of Windows only.

pub mod named_pipe;
