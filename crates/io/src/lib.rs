//! Asynchronous I/O traits, ReadBuf, extension methods and utilities.
