//! Threads, and the futexes by which std and others block them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use libc::{c_int, c_long, c_void, pthread_attr_t, pthread_t, timespec};
use raddle_primitives::sync::Mutex;

use super::{next, random, set_errno, system, time};
use crate::context;
use crate::engine::Engine;
use crate::kernel::Caller;
use crate::kernel::threads::{Place, Turn, Woken};

/// `syscall`, by which std waits for futexes. The C function takes any number of arguments; on the
/// architectures of this crate it gets them as one that takes seven.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(
    number: c_long,
    one: usize,
    two: usize,
    three: usize,
    four: usize,
    five: usize,
    six: usize,
) -> c_long {
    match number {
        libc::SYS_futex => {
            // SAFETY: the arguments are the caller's.
            if let Some(result) = unsafe { futex(one, two as c_int, three, four) } {
                return result;
            }
        }
        // SAFETY: as above.
        libc::SYS_getrandom if unsafe { random::fill(one as *mut u8, two) } => {
            return two as c_long;
        }
        _ => {}
    }
    // SAFETY: as above.
    unsafe { system(number, [one, two, three, four, five, six]) }
}

/// A wait for a futex, or a wake. `None`: the system has to do it, too.
///
/// # Safety
///
/// As for the system call.
unsafe fn futex(word: usize, operation: c_int, value: usize, timeout: usize) -> Option<c_long> {
    let options = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
    match operation & !options {
        wait @ (libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET) => context::call(|engine, caller| {
            // SAFETY: promised by the caller.
            let timeout = unsafe { time::duration(timeout as *const timespec) };
            let clocks = engine.clocks(caller.host);
            let now = match operation & libc::FUTEX_CLOCK_REALTIME {
                0 => clocks.monotonic,
                _ => clocks.realtime,
            };
            let timeout = timeout.map(|until| match wait {
                libc::FUTEX_WAIT => until,
                _ => until.saturating_sub(Duration::from_nanos(now)),
            });
            // SAFETY: promised by the caller.
            let current = unsafe { &*(word as *const AtomicU32) };
            // ORDERING: counted before the word is read, and a thread outside writes the word
            // before it reads the count.
            WAITS.fetch_add(1, Ordering::SeqCst);
            let woken = engine.block(caller, Place::Futex(word), timeout, |_| {
                // ORDERING: as the system's: a wake that comes before is seen in the word.
                current.load(Ordering::SeqCst) == value as u32
            });
            // ORDERING: as above.
            WAITS.fetch_sub(1, Ordering::SeqCst);
            let error = match woken {
                Some(Woken::Released) => return 0,
                Some(Woken::TimedOut) => libc::ETIMEDOUT,
                None => libc::EAGAIN,
            };
            set_errno(error);
            -1
        }),
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => {
            let count = (value as u32).min(i32::MAX as u32) as usize;
            let released = context::call(|engine, caller| {
                let mut kernel = engine.kernel.lock();
                let released = kernel.threads.release(Place::Futex(word), count);
                drop(kernel);
                if released > 0 {
                    engine.preempt(caller);
                }
                released
            });
            match released {
                // Only threads of this simulation have waited.
                Some(released) if released == count => return Some(released as c_long),
                None if context::is_kernel() => return None,
                Some(_) | None => {}
            }
            wake_elsewhere(word);
            None
        }
        _ => None,
    }
}

/// How many threads of simulations wait for futexes.
static WAITS: AtomicUsize = AtomicUsize::new(0);

/// The simulations that run.
// UNRANKED: no lock is taken under it.
static RUNNING: Mutex<Vec<Weak<Engine>>> = Mutex::new(Vec::new());

/// Wakes threads of all simulations that wait for a futex: they share the locks of the process, such
/// as that of the standard output, with each other and with threads outside.
fn wake_elsewhere(word: usize) {
    // ORDERING: the caller has written the word, perhaps with Relaxed; see `futex`.
    fence(Ordering::SeqCst);
    if WAITS.load(Ordering::SeqCst) == 0 {
        return;
    }
    context::as_kernel(|| {
        let running: Vec<_> = RUNNING.lock().iter().filter_map(Weak::upgrade).collect();
        for engine in running {
            let mut kernel = engine.kernel.lock();
            kernel.threads.release(Place::Futex(word), usize::MAX);
        }
    });
}

/// Makes a simulation one whose threads are woken from outside.
pub(crate) fn begin(engine: &Arc<Engine>) {
    let mut running = RUNNING.lock();
    running.retain(|other| other.strong_count() > 0);
    running.push(Arc::downgrade(engine));
}

type Routine = extern "C" fn(*mut c_void) -> *mut c_void;
type Create =
    unsafe extern "C" fn(*mut pthread_t, *const pthread_attr_t, Routine, *mut c_void) -> c_int;
type Join = unsafe extern "C" fn(pthread_t, *mut *mut c_void) -> c_int;
type Detach = unsafe extern "C" fn(pthread_t) -> c_int;

/// What a new thread of a host runs.
struct Start {
    routine: Routine,
    argument: *mut c_void,
    engine: Arc<Engine>,
    caller: Caller,
    number: u64,
    turn: Arc<Turn>,
}

/// The threads that code of hosts has started and that are neither joined nor detached.
// UNRANKED: no lock is taken under it.
static STARTED: Mutex<BTreeMap<pthread_t, Started>> = Mutex::new(BTreeMap::new());

struct Started {
    number: u64,
    has_ended: bool,
}

extern "C" fn start(argument: *mut c_void) -> *mut c_void {
    // SAFETY: `pthread_create` has made it from a box, for this call only.
    let start = unsafe { Box::from_raw(argument.cast::<Start>()) };
    let Start {
        routine,
        argument,
        engine,
        caller,
        number,
        turn,
    } = *start;
    // Before the thread has its turn: it may wait for a thread of another simulation.
    let key = ending_key();
    engine.begin_thread(caller, turn);
    let ending = Box::into_raw(Box::new(Ending { engine, number }));
    // SAFETY: the key is one of the system's. Its destructor takes the box.
    let error = unsafe { libc::pthread_setspecific(key, ending.cast()) };
    assert_eq!(error, 0, "the system keeps a value of the thread");
    routine(argument)
}

/// What a thread of a host needs when it ends.
struct Ending {
    engine: Arc<Engine>,
    number: u64,
}

/// The key by which the C library calls [`end`]: after the destructors of thread-local values, which
/// are code of the host and may wake other threads.
fn ending_key() -> libc::pthread_key_t {
    static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: the call writes the key; the destructor takes what `start` sets.
        let error = unsafe { libc::pthread_key_create(&raw mut key, Some(end)) };
        assert_eq!(error, 0, "the system has a key for values of threads");
        key
    })
}

unsafe extern "C" fn end(ending: *mut c_void) {
    // SAFETY: `start` has made it from a box, for this call only.
    let ending = unsafe { Box::from_raw(ending.cast::<Ending>()) };
    context::as_kernel(|| {
        // SAFETY: the call has no arguments.
        let own = unsafe { libc::pthread_self() };
        if let Some(own) = STARTED.lock().get_mut(&own) {
            own.has_ended = true;
        }
    });
    ending.engine.end_thread(ending.number);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: the C library's function has this type.
    let create = unsafe { std::mem::transmute::<*mut c_void, Create>(next(c"pthread_create")) };
    let created = context::call(|engine, caller| {
        let turn = Arc::<Turn>::default();
        let number = engine.kernel.lock().threads.number();
        let start_of = Box::new(Start {
            routine,
            argument,
            engine: Arc::clone(engine),
            caller,
            number,
            turn: Arc::clone(&turn),
        });
        let start_of = Box::into_raw(start_of);
        // SAFETY: as the caller of the C function promises; `start` takes the box.
        let error = unsafe { create(thread, attributes, start, start_of.cast()) };
        if error != 0 {
            // SAFETY: no thread has begun, so the box is still this one's.
            drop(unsafe { Box::from_raw(start_of) });
            return error;
        }
        // SAFETY: the call has written it.
        let thread = unsafe { thread.read() };
        STARTED.lock().insert(
            thread,
            Started {
                number,
                has_ended: false,
            },
        );
        engine.kernel.lock().threads.add(caller.host, turn);
        0
    });
    // SAFETY: the arguments are the caller's.
    created.unwrap_or_else(|| unsafe { create(thread, attributes, routine, argument) })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_join(thread: pthread_t, into: *mut *mut c_void) -> c_int {
    context::call(|engine, caller| {
        let ended = || {
            let started = STARTED.lock();
            let started = started.get(&thread);
            started
                .filter(|started| !started.has_ended)
                .map(|started| started.number)
        };
        while let Some(number) = ended() {
            engine.block(caller, Place::Thread(number), None, |_| true);
        }
    });
    context::as_kernel(|| STARTED.lock().remove(&thread));
    // SAFETY: the C library's function has this type, and the arguments are the caller's.
    unsafe { std::mem::transmute::<*mut c_void, Join>(next(c"pthread_join"))(thread, into) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_detach(thread: pthread_t) -> c_int {
    context::as_kernel(|| STARTED.lock().remove(&thread));
    // SAFETY: the C library's function has this type, and the argument is the caller's.
    unsafe { std::mem::transmute::<*mut c_void, Detach>(next(c"pthread_detach"))(thread) }
}
