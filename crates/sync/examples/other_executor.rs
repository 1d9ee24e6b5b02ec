//! The channels and locks on an executor that does not know Raddle: the thread pool of
//! `futures-executor`. Workers search for primes; a semaphore lets two of them work at a time, and
//! each result is sent to the task that requested it.
//!
//! ```sh
//! cargo run -p raddle-sync --example other_executor
//! ```

use std::sync::Arc;

use futures_executor::{ThreadPool, block_on};
use raddle_sync::{Semaphore, mpsc, oneshot, watch};

/// A number, and the sender of the answer: whether the number is a prime.
type Request = (u64, oneshot::Sender<bool>);

fn is_prime(number: u64) -> bool {
    number > 1
        && (2..)
            .take_while(|d| d * d <= number)
            .all(|d| number % d != 0)
}

/// Answers requests until all senders are dropped.
async fn serve(pool: ThreadPool, mut requests: mpsc::Receiver<Request>, done: watch::Sender<u32>) {
    let at_work = Arc::new(Semaphore::new(2));
    let done = Arc::new(done);
    while let Some((number, answer)) = requests.recv().await {
        let permit = Arc::clone(&at_work).acquire_owned().await;
        let permit = permit.expect("the semaphore is never closed");
        let done = Arc::clone(&done);
        pool.spawn_ok(async move {
            // The task that asked may have given up.
            let _ = answer.send(is_prime(number));
            done.send_modify(|done| *done += 1);
            drop(permit);
        });
    }
}

fn main() {
    let pool = ThreadPool::new().expect("the system can start threads");
    let (sender, requests) = mpsc::channel(8);
    let (done, mut progress) = watch::channel(0);
    pool.spawn_ok(serve(pool.clone(), requests, done));

    // Another executor, which runs one future on this thread.
    let primes = block_on(async {
        let mut answers = Vec::new();
        for number in 1..=100 {
            let (answer, receiver) = oneshot::channel();
            let sent = sender.send((number, answer)).await;
            sent.expect("the server runs while there is a sender");
            answers.push((number, receiver));
        }
        let mut primes = Vec::new();
        for (number, answer) in answers {
            if answer.await.expect("every request is answered") {
                primes.push(number);
            }
        }
        let all = progress.wait_for(|&done| done == 100).await;
        assert!(all.is_ok(), "the server ends after all workers");
        primes
    });
    println!("{} primes up to 100: {primes:?}", primes.len());
    assert_eq!(primes.len(), 25);
}
