//! What a child is made with.

use std::ffi::OsStr;
use std::future::Future;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};

use super::Child;

/// Builds a child process: [`std::process::Command`], whose methods these are,
/// with [`spawn`](Self::spawn) and its like for async code.
///
/// What std has and this has not is set through [`as_std_mut`](Self::as_std_mut).
#[derive(Debug)]
pub struct Command {
    std: std::process::Command,
    kill_on_drop: bool,
}

impl Command {
    /// A child that runs `program`, found by `PATH` if it is a mere name, with
    /// the environment and directory of this process.
    pub fn new<S: AsRef<OsStr>>(program: S) -> Self {
        Self::from(std::process::Command::new(program))
    }

    /// The command of std inside.
    pub fn as_std(&self) -> &std::process::Command {
        &self.std
    }

    /// The command of std inside.
    pub fn as_std_mut(&mut self) -> &mut std::process::Command {
        &mut self.std
    }

    /// The command of std inside; [`kill_on_drop`](Self::kill_on_drop) is lost.
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
    pub fn arg0<S: AsRef<OsStr>>(&mut self, arg: S) -> &mut Self {
        self.std.arg0(arg);
        self
    }

    /// Sets a variable of the child's environment.
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

    /// Takes a variable out of the child's environment.
    pub fn env_remove<K: AsRef<OsStr>>(&mut self, key: K) -> &mut Self {
        self.std.env_remove(key);
        self
    }

    /// Empties the child's environment.
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
    /// Default: this process's own.
    pub fn stdin<T: Into<Stdio>>(&mut self, stdin: T) -> &mut Self {
        self.std.stdin(stdin);
        self
    }

    /// Sets the child's standard output.
    ///
    /// Default: this process's own; [`output`](Self::output) pipes it whatever is
    /// set.
    pub fn stdout<T: Into<Stdio>>(&mut self, stdout: T) -> &mut Self {
        self.std.stdout(stdout);
        self
    }

    /// Sets the child's standard error, as [`stdout`](Self::stdout).
    pub fn stderr<T: Into<Stdio>>(&mut self, stderr: T) -> &mut Self {
        self.std.stderr(stderr);
        self
    }

    /// Sets the user that the child runs as.
    pub fn uid(&mut self, id: u32) -> &mut Self {
        self.std.uid(id);
        self
    }

    /// Sets the group that the child runs as.
    pub fn gid(&mut self, id: u32) -> &mut Self {
        self.std.gid(id);
        self
    }

    /// Sets the process group of the child: zero for one of its own.
    pub fn process_group(&mut self, group: i32) -> &mut Self {
        self.std.process_group(group);
        self
    }

    /// Has `f` called in the child, after the fork and before the program is run.
    /// An error of it is the error of [`spawn`](Self::spawn), and the program is
    /// not run. Functions are called in the order in which they were given.
    ///
    /// ```
    /// use raddle_process::Command;
    ///
    /// let mut command = Command::new("true");
    /// // SAFETY: `setsid` and the last error are async-signal-safe.
    /// unsafe {
    ///     command.pre_exec(|| match libc::setsid() {
    ///         -1 => Err(std::io::Error::last_os_error()),
    ///         _ => Ok(()),
    ///     });
    /// }
    /// ```
    ///
    /// # Safety
    ///
    /// As [`CommandExt::pre_exec`]: the child has one thread, a copy of the one that
    /// called `spawn`, and the memory of this process as it was then, with locks
    /// that other threads may have held. So `f` may do only what is allowed in a
    /// signal handler: it must not allocate, and must not take a lock.
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

    /// Has the child be killed when its [`Child`] is dropped, before it has
    /// been waited for to the end. Default: false.
    pub fn kill_on_drop(&mut self, kill_on_drop: bool) -> &mut Self {
        self.kill_on_drop = kill_on_drop;
        self
    }

    /// Whether [`kill_on_drop`](Self::kill_on_drop) is set.
    pub fn get_kill_on_drop(&self) -> bool {
        self.kill_on_drop
    }

    /// Starts the child.
    ///
    /// # Errors
    ///
    /// If the program is not there or may not be run, and if the system has no
    /// process or descriptor left.
    ///
    /// # Panics
    ///
    /// If the thread is in no runtime with I/O.
    #[track_caller]
    pub fn spawn(&mut self) -> io::Result<Child> {
        self.spawn_with(std::process::Command::spawn)
    }

    /// Starts the child by a function, which may do more than
    /// [`std::process::Command::spawn`].
    ///
    /// # Errors
    ///
    /// Those of `spawn`, and if the system has no descriptor left.
    ///
    /// # Panics
    ///
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn spawn_with(
        &mut self,
        spawn: impl FnOnce(&mut std::process::Command) -> io::Result<std::process::Child>,
    ) -> io::Result<Child> {
        // Before there is a process that nobody could wait for.
        let _reactor = raddle_reactor::Handle::current();
        Child::new(spawn(&mut self.std)?, self.kill_on_drop)
    }

    /// Starts the child and waits for its end. Its pipes are closed at once; an
    /// output that is not piped goes where it would by [`spawn`](Self::spawn).
    ///
    /// The child is started by the call.
    ///
    /// # Errors
    ///
    /// The future's are those of [`spawn`](Self::spawn) and of [`Child::wait`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future is dropping the [`Child`].
    ///
    /// # Panics
    ///
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn status(&mut self) -> impl Future<Output = io::Result<ExitStatus>> + use<> {
        let child = self.spawn();
        async {
            let mut child = child?;
            drop((child.stdin.take(), child.stdout.take(), child.stderr.take()));
            child.wait().await
        }
    }

    /// Starts the child, waits for its end and collects what it writes.
    ///
    /// The child is started by the call. The command's outputs are piped from
    /// then on.
    ///
    /// # Errors
    ///
    /// The future's are those of [`spawn`](Self::spawn) and of
    /// [`Child::wait_with_output`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future is dropping the [`Child`] and what it has written.
    ///
    /// # Panics
    ///
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn output(&mut self) -> impl Future<Output = io::Result<Output>> + use<> {
        self.std.stdout(Stdio::piped());
        self.std.stderr(Stdio::piped());
        let child = self.spawn();
        async { child?.wait_with_output().await }
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
