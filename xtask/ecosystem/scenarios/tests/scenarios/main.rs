//! Real servers and clients on the stand-in. They are one program, which links much faster than one
//! program per file.
#![forbid(unsafe_code)]

mod grpc;
mod http;
mod postgres;
mod quic;
mod redis;
mod tls;
