//! Joining threads, for a limited time.

use ::std::fmt;
use ::std::time::Instant;

use crate::contain;
use crate::sync::{Arc, Condvar, Mutex, Rank};
use crate::thread::{Builder, JoinHandle, ThreadId, current_id};

/// The threads of a pool, to be joined at its shutdown.
///
/// A thread has ended when it is joined: then the destructors of its thread-locals have run too.
/// std cannot join a thread with a time limit, so a limited wait starts a thread that joins the
/// others, and waits for that one. Dropping the value leaves threads that were not joined to
/// themselves.
///
/// ```
/// use std::sync::mpsc;
/// use std::time::{Duration, Instant};
///
/// use raddle_primitives::thread::{self, Joining};
///
/// let (release, released) = mpsc::channel::<()>();
/// let mut threads = Joining::default();
/// threads.push(thread::spawn(move || drop(released.recv())));
/// let deadline = Instant::now() + Duration::from_millis(1);
/// assert!(!threads.join(Some(deadline)));
/// drop(release);
/// assert!(threads.join(None));
/// ```
#[derive(Default)]
pub struct Joining {
    threads: Vec<JoinHandle<()>>,
    /// The threads that another thread joins.
    elsewhere: Option<Arc<Elsewhere>>,
}

struct Elsewhere {
    /// The threads that are joined.
    ids: Vec<ThreadId>,
    state: Mutex<State>,
    /// Notified when `has_joined` is set.
    joined: Condvar,
}

struct State {
    /// Empty once the thread that joins them has taken them.
    threads: Vec<JoinHandle<()>>,
    has_joined: bool,
}

impl Joining {
    /// Adds a thread.
    pub fn push(&mut self, thread: JoinHandle<()>) {
        self.threads.push(thread);
    }

    /// Joins the threads, until `deadline` if there is one. Returns whether all have ended. If the
    /// deadline has passed, returns at once. May be called again.
    ///
    /// The calling thread does not join itself: if it is one of these threads, this joins only the
    /// others or, after a limited wait, returns false at once. It also returns false if the system
    /// refuses a thread for a limited wait.
    pub fn join(&mut self, deadline: Option<Instant>) -> bool {
        let own = current_id();
        self.threads.retain(|thread| thread.thread().id() != own);
        let Some(deadline) = deadline.filter(|_| cfg!(not(raddle_loom))) else {
            // No time passes in a model.
            let is_joined = self.wait_elsewhere(None);
            join_each(self.threads.drain(..));
            return is_joined;
        };
        if !self.wait_elsewhere(Some(deadline)) {
            return false;
        }
        if self.threads.is_empty() {
            return true;
        }
        if deadline <= Instant::now() {
            return false;
        }
        self.join_elsewhere();
        self.threads.is_empty() && self.wait_elsewhere(Some(deadline))
    }

    /// Starts a thread that joins the others. If the system refuses it, they stay here.
    fn join_elsewhere(&mut self) {
        let ids = self.threads.iter().map(|thread| thread.thread().id());
        let elsewhere = Arc::new(Elsewhere {
            ids: ids.collect(),
            state: Mutex::ranked(
                Rank::leaf("threads that are joined"),
                State {
                    threads: ::std::mem::take(&mut self.threads),
                    has_joined: false,
                },
            ),
            joined: Condvar::new(),
        });
        let theirs = elsewhere.clone();
        let join = move || {
            let threads = ::std::mem::take(&mut theirs.state.lock().threads);
            join_each(threads);
            theirs.state.lock().has_joined = true;
            theirs.joined.notify_all();
        };
        let builder = Builder::new().name("raddle-shutdown".to_owned());
        let spawned = spawn_boxed(builder, Box::new(join));
        match spawned {
            Ok(_) => self.elsewhere = Some(elsewhere),
            Err(_) => self.threads = ::std::mem::take(&mut elsewhere.state.lock().threads),
        }
    }

    /// Waits for the threads that another thread joins.
    fn wait_elsewhere(&mut self, deadline: Option<Instant>) -> bool {
        let Some(elsewhere) = &self.elsewhere else {
            return true;
        };
        if elsewhere.ids.contains(&current_id()) {
            // The other thread waits for this one.
            return false;
        }
        let mut state = elsewhere.state.lock();
        while !state.has_joined {
            state = match deadline {
                None => elsewhere.joined.wait(state),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    elsewhere.joined.wait_timeout(state, left).0
                }
            };
        }
        drop(state);
        self.elsewhere = None;
        true
    }
}

/// Starts a thread that runs `f`. The closure is boxed, so that all threads are started by one
/// instance of the generic code of std, which is large.
///
/// # Errors
///
/// Returns an error if the system refuses the thread; `f` is then dropped.
pub fn spawn_boxed(
    builder: Builder,
    f: Box<dyn FnOnce() + Send>,
) -> ::std::io::Result<JoinHandle<()>> {
    builder.spawn(f)
}

/// Runs `f`, which drops values of the user, for a shutdown with a limit: on a thread of its own,
/// or on the calling one if the system refuses a thread.
pub fn run_elsewhere(f: Box<dyn FnOnce() + Send>) -> Option<JoinHandle<()>> {
    let rank = Rank::leaf("work that another thread takes");
    let work = Arc::new(Mutex::ranked(rank, Some(f)));
    let theirs = work.clone();
    let run = |work: &Mutex<Option<Box<dyn FnOnce() + Send>>>| {
        let f = work.lock().take();
        if let Some(f) = f {
            f();
        }
    };
    let builder = Builder::new().name("raddle-shutdown".to_owned());
    let spawned = spawn_boxed(builder, Box::new(move || run(&theirs)));
    if spawned.is_err() {
        run(&work);
    }
    spawned.ok()
}

fn join_each(threads: impl IntoIterator<Item = JoinHandle<()>>) {
    for thread in threads {
        // A thread ends with a payload if a hook has panicked, which the panic hook has reported.
        contain(|| drop(thread.join()));
    }
}

impl fmt::Debug for Joining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joining")
            .field("threads", &self.threads.len())
            .finish_non_exhaustive()
    }
}
