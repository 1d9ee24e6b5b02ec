//! Work that would block a worker: checksums of files, computed on threads for blocking work.
//!
//! A task that computes for a long time, or that makes a call that blocks, keeps its worker
//! from other tasks. `spawn_blocking` moves such work to a pool of threads. That pool is large,
//! since most blocking calls only wait; work that computes is limited by a semaphore to about
//! one call for each core.
//!
//! ```sh
//! cargo run --example blocking_work -- Cargo.toml Cargo.lock
//! ```
#![forbid(unsafe_code)]

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use raddle::sync::Semaphore;
use raddle::task::{JoinSet, spawn_blocking};

#[raddle::main]
async fn main() -> io::Result<()> {
    let paths = std::env::args_os().skip(1).map(PathBuf::from).collect();
    for (path, sum) in checksums(paths).await? {
        println!("{sum:016x}  {}", path.display());
    }
    Ok(())
}

/// The checksum of each file, sorted by path.
pub(crate) async fn checksums(paths: Vec<PathBuf>) -> io::Result<Vec<(PathBuf, u64)>> {
    let cores = std::thread::available_parallelism()?.get();
    let cores = Arc::new(Semaphore::new(cores));
    let mut calls = JoinSet::new();
    for path in paths {
        let cores = Arc::clone(&cores);
        calls.spawn(async move {
            // Waits as a task, without a thread. The permit moves into the call: a call that
            // has begun cannot be aborted, and holds its core until it returns.
            let permit = cores.acquire_owned().await.map_err(io::Error::other)?;
            spawn_blocking(move || {
                let _permit = permit;
                let bytes = std::fs::read(&path)?;
                Ok((path, checksum(&bytes)))
            })
            .await?
        });
    }
    let mut sums = calls
        .join_all()
        .await
        .into_iter()
        .collect::<io::Result<Vec<_>>>()?;
    sums.sort();
    Ok(sums)
}

/// FNV-1a, 64 bits: short, and slow enough to matter.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
