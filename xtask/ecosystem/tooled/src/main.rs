//! A program that knows nothing of Raddle: `docs/guide/tokio.md` shows how it gets the tools.

use std::time::Duration;

use tokio::io::AsyncReadExt as _;

/// Blocks a worker, and ends with its input.
#[tokio::main]
async fn main() {
    let slow = tokio::spawn(async { std::thread::sleep(Duration::from_millis(500)) });
    slow.await.expect("it does not panic");
    let _ = tokio::io::stdin().read_to_end(&mut Vec::new()).await;
}
