//! Integration tests of the adapters and of the example server.

mod adapters;
mod http_example;
