//! Tasks that are not `Send`: a counter of words whose tasks share an `Rc`.
//!
//! A `LocalSet` runs its tasks on the thread that awaits it, so they need neither `Arc` nor a
//! lock. Between two `.await`s no other task of the set runs.
//!
//! ```sh
//! cargo run --example local_tasks -- README.md CHANGELOG.md
//! ```
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;
use std::rc::Rc;

use raddle::fs::File;
use raddle::io::{AsyncBufRead, AsyncBufReadExt, BufReader};
use raddle::task::{LocalSet, spawn_local};

type Counts = Rc<RefCell<HashMap<String, usize>>>;

#[raddle::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let mut files = Vec::new();
    for path in std::env::args().skip(1) {
        files.push(BufReader::new(File::open(path).await?));
    }
    let mut words: Vec<_> = count(files).await?.into_iter().collect();
    words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    for (word, count) in words.iter().take(10) {
        println!("{count:>6} {word}");
    }
    Ok(())
}

/// Counts the words of all inputs, with a task for each input.
pub(crate) async fn count<R>(inputs: Vec<R>) -> io::Result<HashMap<String, usize>>
where
    R: AsyncBufRead + Unpin + 'static,
{
    LocalSet::new()
        .run_until(async {
            let counts = Counts::default();
            let tasks: Vec<_> = inputs
                .into_iter()
                .map(|input| spawn_local(count_one(input, Rc::clone(&counts))))
                .collect();
            for task in tasks {
                task.await??;
            }
            Ok(counts.take())
        })
        .await
}

async fn count_one<R: AsyncBufRead + Unpin>(input: R, counts: Counts) -> io::Result<()> {
    let mut lines = input.lines();
    while let Some(line) = lines.next_line().await? {
        // The borrow ends before the next `.await`.
        let mut counts = counts.borrow_mut();
        for word in line.split_whitespace() {
            *counts.entry(word.to_lowercase()).or_default() += 1;
        }
    }
    Ok(())
}
