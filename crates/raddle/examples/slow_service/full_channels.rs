//! Two tasks send to each other over bounded channels, and receive only after they have sent. When
//! both channels are full, both wait forever.

use raddle::sync::mpsc::{self, Receiver, Sender};

/// How many answers a request has.
const ANSWERS: u32 = 3;

pub(crate) async fn serve() {
    let (to_parser, for_parser) = mpsc::channel(2);
    let (to_store, for_store) = mpsc::channel(2);
    raddle::spawn(work(for_parser, to_store));
    let store = raddle::spawn(work(for_store, to_parser.clone()));
    // Enough to fill both channels.
    for number in 0..8 {
        if to_parser.send(number).await.is_err() {
            return;
        }
    }
    let _ = store.await;
}

/// The fault: what a task sends comes back to it before it can be received. An unbounded channel in
/// one direction, or a `select!` that receives while it waits to send, mends it.
async fn work(mut requests: Receiver<u32>, answers: Sender<u32>) {
    while let Some(number) = requests.recv().await {
        for answer in 0..ANSWERS {
            if answers.send(number + answer).await.is_err() {
                return;
            }
        }
    }
}
