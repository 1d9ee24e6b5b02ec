//! Child processes: input, output and a time limit.
//!
//! Runs a command with text as its input, prints each line of output as it arrives, and kills
//! the command when it takes too long.
//!
//! ```sh
//! cargo run --example child_processes -- sort -r
//! ```
#![forbid(unsafe_code)]

#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(unix)]
#[raddle::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut command = raddle::process::Command::new(arguments.next().unwrap_or("sort".into()));
    command.args(arguments);
    let limit = std::time::Duration::from_secs(10);
    match run(command, b"pear\napple\nquince\n", limit, |line| {
        println!("{line}")
    })
    .await?
    {
        Some(status) => println!("{status}"),
        None => println!("killed after {limit:?}"),
    }
    Ok(())
}

#[cfg(not(unix))]
fn main() {
    eprintln!("raddle::process is for Unix");
}

#[cfg(unix)]
mod unix {
    use std::io;
    use std::process::{ExitStatus, Stdio};
    use std::time::Duration;

    use raddle::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use raddle::process::Command;
    use raddle::time::timeout;

    /// Runs a command and returns its exit status, or `None` if it was killed after `limit`.
    pub(crate) async fn run(
        mut command: Command,
        input: &[u8],
        limit: Duration,
        mut on_line: impl FnMut(&str),
    ) -> io::Result<Option<ExitStatus>> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // If this future is dropped, the child is killed instead of left running.
        let mut child = command.kill_on_drop(true).spawn()?;
        let mut stdin = child.stdin.take().expect("stdin is a pipe");
        let stdout = child.stdout.take().expect("stdout is a pipe");

        let write = async move {
            stdin.write_all(input).await?;
            // Dropping the pipe is the end of the child's input.
            drop(stdin);
            io::Result::Ok(())
        };
        let read = async {
            let mut lines = BufReader::new(stdout).lines();
            while let Some(line) = lines.next_line().await? {
                on_line(&line);
            }
            Ok(())
        };
        // At the same time: a child whose output pipe is full stops reading its input.
        let exchange = async {
            raddle::try_join!(write, read)?;
            child.wait().await
        };
        match timeout(limit, exchange).await {
            Ok(status) => status.map(Some),
            Err(_elapsed) => {
                // Sends the signal and waits, so that no zombie is left.
                child.kill().await?;
                Ok(None)
            }
        }
    }
}
