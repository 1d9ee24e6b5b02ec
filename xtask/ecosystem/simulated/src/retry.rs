//! Attempts of clients.

use std::time::Duration;

use tokio::time::{sleep, timeout};

/// The time limit of an attempt.
pub const ATTEMPT: Duration = Duration::from_secs(2);
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

/// Makes attempts until one succeeds, each with a time limit.
pub async fn retry<T, E, F>(mut attempt: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<T, E>>,
{
    loop {
        if let Ok(Ok(value)) = timeout(ATTEMPT, attempt()).await {
            return value;
        }
        sleep(PAUSE).await;
    }
}
