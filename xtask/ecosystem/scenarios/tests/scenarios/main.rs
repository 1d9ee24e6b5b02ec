//! Real servers and clients on the stand-in, in one program, which links in a
//! fraction of the time that one per file takes.
#![forbid(unsafe_code)]

mod grpc;
mod http;
mod postgres;
mod quic;
mod redis;
mod tls;
