//! Tests of the sockets, pipes and other descriptors.
#![cfg(not(raddle_loom))]

#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
use raddle_testing::refuse;

#[cfg(unix)]
mod after_shutdown;
#[cfg(unix)]
mod assumed;
#[cfg(unix)]
mod async_fd;
#[cfg(unix)]
mod budget;
mod connecting;
#[cfg(unix)]
mod descriptors;
mod faults;
mod hang_up;
#[cfg(target_os = "linux")]
mod injected;
#[cfg(windows)]
mod named_pipe;
#[cfg(unix)]
mod pipe;
mod send_sync;
mod splitting;
mod streaming;
mod tcp_socket;
mod udp;
mod udp_options;
#[cfg(unix)]
mod unix_datagram;
#[cfg(target_os = "linux")]
mod unix_long_path;
#[cfg(unix)]
mod unix_stream;
#[cfg(windows)]
mod wine;
