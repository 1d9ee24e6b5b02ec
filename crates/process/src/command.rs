//! The builder of a child process.

use std::ffi::OsStr;
use std::future::Future;
use std::io;
#[cfg(unix)]
use std::os::unix::process::CommandExt;
#[cfg(windows)]
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};

use raddle_leaf::misuse::io_at_caller;

use super::Child;

/// A builder of child processes, with the methods of [`std::process::Command`];
/// [`spawn`](Self::spawn), [`status`](Self::status) and [`output`](Self::output) are for async
/// code.
///
/// For settings that only std's type has, use [`as_std_mut`](Self::as_std_mut).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::process::Command;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let output = Command::new("echo").arg("hello").output().await?;
/// assert!(output.status.success());
/// assert_eq!(output.stdout, b"hello\n");
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct Command {
    std: std::process::Command,
    kill_on_drop: bool,
}

impl Command {
    /// Makes a command that runs `program` with the environment and the directory of this process.
    /// A name without a path is searched in `PATH`.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Self {
        Self::from(std::process::Command::new(program))
    }

    /// Returns the inner command of std's type.
    pub fn as_std(&self) -> &std::process::Command {
        &self.std
    }

    /// Returns the inner command of std's type.
    pub fn as_std_mut(&mut self) -> &mut std::process::Command {
        &mut self.std
    }

    /// Returns the inner command of std's type; the setting [`kill_on_drop`](Self::kill_on_drop) is
    /// lost.
    pub fn into_std(self) -> std::process::Command {
        self.std
    }

    /// Adds an argument.
    pub fn arg<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Self {
        self.std.arg(arg);
        self
    }

    /// Adds arguments.
    pub fn args<I, S>(&mut self, args: I) -> &mut Self
    where
        I: IntoIterator<Item = S>,
        S: AsRef<OsStr>,
    {
        self.std.args(args);
        self
    }

    /// Sets the argument before the first, by default the program's name.
    #[cfg(unix)]
    pub fn arg0<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Self {
        self.std.arg0(arg);
        self
    }

    /// Sets a variable of the child's environment.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut command = Command::new("sh");
    /// command.env("NAME", "raddle").args(["-c", "echo $NAME"]);
    /// assert_eq!(command.output().await?.stdout, b"raddle\n");
    /// # Ok(()) }) }
    /// ```
    pub fn env<K, V>(&mut self, key: K, value: V) -> &mut Self
    where
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.env(key, value);
        self
    }

    /// Sets variables of the child's environment.
    pub fn envs<I, K, V>(&mut self, vars: I) -> &mut Self
    where
        I: IntoIterator<Item = (K, V)>,
        K: AsRef<OsStr>,
        V: AsRef<OsStr>,
    {
        self.std.envs(vars);
        self
    }

    /// Removes a variable from the child's environment.
    pub fn env_remove<K: AsRef<OsStr>>(&mut self, key: K) -> &mut Self {
        self.std.env_remove(key);
        self
    }

    /// Clears the child's environment.
    pub fn env_clear(&mut self) -> &mut Self {
        self.std.env_clear();
        self
    }

    /// Sets the child's directory.
    pub fn current_dir<P: AsRef<Path>>(&mut self, dir: P) -> &mut Self {
        self.std.current_dir(dir);
        self
    }

    /// Sets the child's standard input.
    ///
    /// Default: that of this process.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncWriteExt;
    /// use raddle::process::Command;
    /// use std::process::Stdio;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut command = Command::new("cat");
    /// let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    /// let mut input = child.stdin.take().unwrap();
    /// input.write_all(b"hello").await?;
    /// drop(input);
    /// assert_eq!(child.wait_with_output().await?.stdout, b"hello");
    /// # Ok(()) }) }
    /// ```
    pub fn stdin<T: Into<Stdio>>(&mut self, stdin: T) -> &mut Self {
        self.std.stdin(stdin);
        self
    }

    /// Sets the child's standard output.
    ///
    /// Default: that of this process. [`output`](Self::output) always pipes it.
    pub fn stdout<T: Into<Stdio>>(&mut self, stdout: T) -> &mut Self {
        self.std.stdout(stdout);
        self
    }

    /// Sets the child's standard error, like [`stdout`](Self::stdout).
    pub fn stderr<T: Into<Stdio>>(&mut self, stderr: T) -> &mut Self {
        self.std.stderr(stderr);
        self
    }

    /// Sets the user that the child runs as.
    #[cfg(unix)]
    pub fn uid(&mut self, id: u32) -> &mut Self {
        self.std.uid(id);
        self
    }

    /// Sets the group that the child runs as.
    #[cfg(unix)]
    pub fn gid(&mut self, id: u32) -> &mut Self {
        self.std.gid(id);
        self
    }

    /// Sets the process group of the child; zero makes a new group.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// // A group of its own, which the terminal does not interrupt with this process.
    /// let status = Command::new("true").process_group(0).status().await?;
    /// assert!(status.success());
    /// # Ok(()) }) }
    /// ```
    #[cfg(unix)]
    pub fn process_group(&mut self, group: i32) -> &mut Self {
        self.std.process_group(group);
        self
    }

    /// Calls `f` in the child, after the fork and before the program is run. Several functions are
    /// called in the order in which they were added.
    ///
    /// # Errors
    ///
    /// If `f` returns an error, [`spawn`](Self::spawn) returns it, and the program is not run.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    ///
    /// # fn main() {
    /// let mut command = Command::new("true");
    /// // SAFETY: `setsid` and the last error are async-signal-safe.
    /// unsafe {
    ///     command.pre_exec(|| match libc::setsid() {
    ///         -1 => Err(std::io::Error::last_os_error()),
    ///         _ => Ok(()),
    ///     });
    /// }
    /// # }
    /// ```
    ///
    /// # Safety
    ///
    /// As for [`CommandExt::pre_exec`]: the child has one thread, a copy of the one that called
    /// `spawn`, and a copy of this process's memory, with locks that other threads may have held.
    /// `f` may therefore do only what is allowed in a signal handler: it must not allocate, and
    /// must not take a lock.
    #[cfg(unix)]
    #[allow(
        unsafe_code,
        reason = "the caller answers for what runs after the fork"
    )]
    pub unsafe fn pre_exec<F>(&mut self, f: F) -> &mut Self
    where
        F: FnMut() -> io::Result<()> + Send + Sync + 'static,
    {
        // SAFETY: the caller promises what std asks for.
        unsafe { self.std.pre_exec(f) };
        self
    }

    /// Appends text to the command line unchanged, without quotes: for programs such as `cmd`,
    /// which parse it by their own rules.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let status = Command::new("cmd").raw_arg("/c echo \"hello").status().await?;
    /// assert!(status.success());
    /// # Ok(()) }) }
    /// ```
    #[cfg(windows)]
    pub fn raw_arg<S: AsRef<OsStr>>(&mut self, text: S) -> &mut Self {
        self.std.raw_arg(text);
        self
    }

    /// Sets flags for the `dwCreationFlags` of `CreateProcess`.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    ///
    /// /// Without a console window.
    /// const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// Command::new("hostname").creation_flags(CREATE_NO_WINDOW).status().await?;
    /// # Ok(()) }) }
    /// ```
    #[cfg(windows)]
    pub fn creation_flags(&mut self, flags: u32) -> &mut Self {
        self.std.creation_flags(flags);
        self
    }

    /// Sets whether the child is killed when its [`Child`] is dropped before the child has ended.
    /// Default: false.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let child = Command::new("sleep").arg("60").kill_on_drop(true).spawn()?;
    /// drop(child);
    /// # Ok(()) }) }
    /// ```
    pub fn kill_on_drop(&mut self, kill_on_drop: bool) -> &mut Self {
        self.kill_on_drop = kill_on_drop;
        self
    }

    /// Returns whether [`kill_on_drop`](Self::kill_on_drop) is set.
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// Starts the child.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if the program does not exist, `PermissionDenied` if it may not be run,
    /// and an uncategorized error (EAGAIN, EMFILE) if the system has no process or descriptor left.
    ///
    /// # Panics
    ///
    /// Panics if the thread is not in a runtime with I/O.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut child = Command::new("true").spawn()?;
    /// assert!(child.wait().await?.success());
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn spawn(&mut self) -> io::Result<Child> {
        self.spawn_with(std::process::Command::spawn)
    }

    /// Starts the child with a function, in place of [`std::process::Command::spawn`].
    ///
    /// # Errors
    /// Returns the errors of `spawn`, and an error if the system has no descriptor left.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`spawn`](Self::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// // Something else than `std::process::Command::spawn` may make the process.
    /// let mut child = Command::new("true").spawn_with(|command| command.spawn())?;
    /// assert!(child.wait().await?.success());
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn spawn_with(
        &mut self,
        spawn: impl FnOnce(&mut std::process::Command) -> io::Result<std::process::Child>,
    ) -> io::Result<Child> {
        // Before the process exists: without a reactor, nothing could wait for it.
        let reactor = raddle_reactor::Handle::current();
        #[cfg(unix)]
        crate::signal::delivery::prepare(&reactor)?;
        drop(reactor);
        Child::new(spawn(&mut self.std)?, self.kill_on_drop)
    }

    /// Starts the child and waits for it to exit. Its pipes are closed at once; for outputs that
    /// are not piped, see [`spawn`](Self::spawn).
    ///
    /// The call starts the child, before the future is polled.
    ///
    /// # Errors
    ///
    /// The future returns the errors of [`spawn`](Self::spawn) and of [`Child::wait`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the [`Child`].
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`spawn`](Self::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::process::Command;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// assert_eq!(Command::new("false").status().await?.code(), Some(1));
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + use<> {
        let child = self.spawn();
        io_at_caller(async {
            let mut child = child?;
            drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
            child.exit().await
        })
    }

    /// Starts the child, waits for it to exit and collects its output.
    ///
    /// The call starts the child, before the future is polled. From then on the command's outputs
    /// are piped.
    ///
    /// # Errors
    ///
    /// The future returns the errors of [`spawn`](Self::spawn) and of
    /// [`Child::wait_with_output`].
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: dropping the future drops the [`Child`] and the output that was collected.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`spawn`](Self::spawn).
    #[track_caller]
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + use<> {
        self.std.stdout(Stdio::piped());
        self.std.stderr(Stdio::piped());
        let child = self.spawn();
        io_at_caller(async { child?.exit_with_output().await })
    }
}

impl From<std::process::Command> for Command {
    fn from(std: std::process::Command) -> Self {
        Self {
            std,
            kill_on_drop: false,
        }
    }
}
