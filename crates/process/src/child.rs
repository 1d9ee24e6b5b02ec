//! A child process.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::process::{ExitStatus, Output};
use std::task::{Context, Poll};

use raddle_io::{AsyncRead, AsyncReadExt};
use raddle_leaf::misuse::io_at_caller;

use super::reap::Process;
use super::{ChildStderr, ChildStdin, ChildStdout};

/// A child process; from [`Command::spawn`](super::Command::spawn).
///
/// Dropping it does not stop the process, unless [`kill_on_drop`](super::Command::kill_on_drop) was
/// set; see the [crate](crate#children-that-are-dropped).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::process::Command;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut child = Command::new("sleep").arg("60").spawn()?;
/// println!("process {:?}", child.id());
/// child.kill().await?;
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct Child {
    /// The pipe to its standard input, if that was
    /// [piped](std::process::Stdio::piped).
    pub stdin: Option<ChildStdin>,
    /// The pipe from its standard output, if that was piped.
    pub stdout: Option<ChildStdout>,
    /// The pipe from its standard error, if that was piped.
    pub stderr: Option<ChildStderr>,
    process: Process,
    kill_on_drop: bool,
}

impl Child {
    #[track_caller]
    pub(super) fn new(mut child: std::process::Child, kill_on_drop: bool) -> io::Result<Self> {
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        // If a step below fails, the drop of `this` leaves the child to be reaped, and first kills
        // it if `kill_on_drop` is set.
        let mut this = Self {
            stdin: None,
            stdout: None,
            stderr: None,
            process: Process::new(child),
            kill_on_drop,
        };
        this.stdin = stdin.map(ChildStdin::from_std).transpose()?;
        this.stdout = stdout.map(ChildStdout::from_std).transpose()?;
        this.stderr = stderr.map(ChildStderr::from_std).transpose()?;
        Ok(this)
    }

    /// Returns the process id. `None` once the process is known to have ended, because another
    /// process may have the id then.
    pub fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Returns the handle of the process, or `None` once the process is known to have ended.
    #[cfg(windows)]
    pub fn raw_handle(&self) -> Option<std::os::windows::io::RawHandle> {
        self.process.raw_handle()
    }

    /// Kills the process (`SIGKILL`), without waiting for it to exit. Does nothing if the process
    /// is known to have ended.
    ///
    /// # Errors
    ///
    /// Returns `PermissionDenied` if the child has changed to a user that this process may not
    /// signal.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut child = Command::new("sleep").arg("60").spawn()?;
    /// child.start_kill()?;
    /// assert!(!child.wait().await?.success());
    /// # Ok(()) }) }
    /// ```
    pub fn start_kill(&mut self) -> io::Result<()> {
        match self.process.running() {
            Some(running) => running.kill(),
            None => Ok(()),
        }
    }

    /// [Kills](Self::start_kill) the process and waits for it to exit.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`start_kill`](Self::start_kill) and [`wait`](Self::wait).
    ///
    /// # Cancel safety
    ///
    /// The first poll kills the process; dropping the future after that only stops the wait.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut child = Command::new("sleep").arg("60").spawn()?;
    /// child.kill().await?;
    /// // It has ended, and left no zombie.
    /// assert!(child.id().is_none());
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn kill(&mut self) -> impl Future<Output = io::Result<()>> {
        io_at_caller(async move {
            self.start_kill()?;
            self.exit().await?;
            Ok(())
        })
    }

    /// Waits for the process to exit. First closes the pipe to its standard input, so that the
    /// process does not wait for more input.
    ///
    /// It works in any runtime, and needs no descriptors beyond those that the spawn has opened.
    /// After the child has ended, each call returns the same status.
    ///
    /// # Errors
    ///
    /// Returns an error if other code has taken the exit status, or if the runtime shuts down and
    /// the wait uses a descriptor of the process, as on Linux. Elsewhere the wait continues.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, except that the pipe to the standard input is closed: dropping the future only
    /// stops the wait.
    ///
    /// # Panics
    ///
    /// The poll panics if the thread is not in a runtime with I/O.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut child = Command::new("sh").args(["-c", "exit 3"]).spawn()?;
    /// assert_eq!(child.wait().await?.code(), Some(3));
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn wait(&mut self) -> impl Future<Output = io::Result<ExitStatus>> {
        io_at_caller(self.exit())
    }

    /// Waits for the exit, or returns a [`Misuse`](raddle_leaf::misuse::Misuse).
    pub(super) async fn exit(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        poll_fn(|cx| raddle_reactor::poll_budgeted(cx, |cx| self.process.poll_wait(cx))).await
    }

    /// Returns the exit status, if the process has ended. Unlike [`wait`](Self::wait), it does not
    /// close the pipe to the standard input.
    ///
    /// # Errors
    ///
    /// Returns an error if other code has taken the exit status.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut child = Command::new("sleep").arg("60").spawn()?;
    /// assert!(child.try_wait()?.is_none());
    /// child.kill().await?;
    /// assert!(child.try_wait()?.is_some());
    /// # Ok(()) }) }
    /// ```
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.process.try_wait()
    }

    /// Waits for the process to exit, and collects its output from the pipes.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`wait`](Self::wait) and of reading; the first one at once, although
    /// the pipes are open.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: dropping the future drops the child and the output that was collected.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`wait`](Self::wait).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    /// use std::process::Stdio;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let child = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
    /// let output = child.wait_with_output().await?;
    /// assert_eq!(output.stdout, b"hello\n");
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn wait_with_output(self) -> impl Future<Output = io::Result<Output>> {
        io_at_caller(self.exit_with_output())
    }

    /// Collects the output, or returns a [`Misuse`](raddle_leaf::misuse::Misuse).
    pub(super) async fn exit_with_output(mut self) -> io::Result<Output> {
        let (stdout, stderr) = (self.stdout.take(), self.stderr.take());
        let mut reading_stdout = pin!(read_all(stdout));
        let mut reading_stderr = pin!(read_all(stderr));
        let mut waiting = pin!(self.exit());
        let (mut stdout, mut stderr, mut status) = (None, None, None);
        // Polls all three in turn: a process may not end before its output is read. The first error
        // ends them all: the pipes may stay open for as long as the process runs, or longer.
        poll_fn(|cx| {
            poll_once(waiting.as_mut(), &mut status, cx)?;
            poll_once(reading_stdout.as_mut(), &mut stdout, cx)?;
            poll_once(reading_stderr.as_mut(), &mut stderr, cx)?;
            match (status, stdout.take(), stderr.take()) {
                (Some(status), Some(stdout), Some(stderr)) => Poll::Ready(Ok(Output {
                    status,
                    stdout,
                    stderr,
                })),
                (_, some_stdout, some_stderr) => {
                    (stdout, stderr) = (some_stdout, some_stderr);
                    Poll::Pending
                }
            }
        })
        .await
    }
}

/// Polls a future that has not returned its output yet, and returns its error.
fn poll_once<T>(
    future: Pin<&mut impl Future<Output = io::Result<T>>>,
    output: &mut Option<T>,
    cx: &mut Context<'_>,
) -> io::Result<()> {
    if output.is_none() {
        if let Poll::Ready(result) = future.poll(cx) {
            *output = Some(result?);
        }
    }
    Ok(())
}

async fn read_all(source: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut source) = source {
        source.read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.kill_on_drop && matches!(self.process.try_wait(), Ok(None)) {
            // The call returns an error if the process has already ended.
            let _ = self.start_kill();
        }
    }
}
