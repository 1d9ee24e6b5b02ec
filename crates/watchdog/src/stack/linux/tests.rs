use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::super::{NoStack, StackTrace};
use super::{Sampler, ThreadStack, signal};
use crate::slot::{Activity, ActivityKind, ActivitySlot};

/// A process has at most one request at a time, so the tests run one after the other.
static ONE_TEST: raddle_primitives::sync::Mutex<()> =
    raddle_primitives::sync::Mutex::ranked(raddle_primitives::sync::Rank::outer(1, "one test"), ());

const LIMIT: Duration = Duration::from_secs(10);

/// Takes a sample by a signal.
fn by_signal(
    sampler: &mut Sampler,
    thread: &ThreadStack,
    limit: Duration,
) -> Result<StackTrace, NoStack> {
    let pending = signal::send(thread).ok_or(NoStack::Returned)?;
    let addresses = sampler.wait(pending, limit, &mut || ())?;
    Ok(StackTrace::new(addresses))
}

#[inline(never)]
fn a_function_that_spins(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        // Most of the time is spent in the vDSO.
        black_box(Instant::now());
    }
}

#[inline(never)]
fn a_function_that_sleeps(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(20));
    }
}

/// Allocates memory of different sizes, loads a library by name and formats numbers.
#[inline(never)]
fn a_function_that_allocates(stop: &AtomicBool) {
    let mut size = 1;
    while !stop.load(Ordering::Relaxed) {
        size = size * 7 % 1_000_003;
        black_box(vec![1_u8; size].len());
        black_box(format!("{size}"));
        // SAFETY: the name ends with a zero byte, and the library is loaded already.
        unsafe {
            let library = libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_NOW);
            if !library.is_null() {
                libc::dlclose(library);
            }
        }
    }
}

/// Samples a thread that runs `body`, and returns the function names of each trace.
fn traces(count: usize, body: fn(&AtomicBool)) -> Vec<Option<Vec<String>>> {
    let _one_test = ONE_TEST.lock();
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            sender
                .send(ThreadStack::of_current_thread().unwrap())
                .unwrap();
            body(&stop);
        });
        let stack = receiver.recv().unwrap();
        thread::sleep(Duration::from_millis(10));
        let mut sampler = Sampler::new();
        let traces: Vec<_> = (0..count)
            .map(|_| by_signal(&mut sampler, &stack, LIMIT).ok())
            .collect();
        stop.store(true, Ordering::Relaxed);
        traces
            .into_iter()
            .map(|trace| trace.map(|trace| function_names(&trace)))
            .collect()
    })
}

fn function_names(trace: &StackTrace) -> Vec<String> {
    let frames = trace.frames().iter();
    let names = frames.filter_map(|frame| frame.function());
    names.map(str::to_owned).collect()
}

/// Returns whether a trace contains a function. Under a sanitizer it returns whether there is a
/// trace: ThreadSanitizer calls the handler from its own code, and the unwind information of that
/// code does not lead to the callers.
fn contains(trace: &Option<Vec<String>>, function: &str) -> bool {
    let mut names = trace.iter().flatten();
    match cfg!(raddle_sanitize) {
        true => trace.is_some(),
        false => names.any(|name| name.ends_with(function)),
    }
}

#[test]
fn the_trace_of_a_busy_thread_names_its_functions() {
    for trace in traces(20, a_function_that_spins) {
        assert!(contains(&trace, "a_function_that_spins"), "{trace:#?}");
        assert!(contains(&trace, "start_thread"), "{trace:#?}");
    }
}

#[test]
fn the_trace_of_a_thread_in_a_system_call_names_its_functions() {
    for trace in traces(3, a_function_that_sleeps) {
        assert!(contains(&trace, "a_function_that_sleeps"), "{trace:#?}");
    }
}

/// The handler takes no lock that the thread may hold, so each signal is answered.
#[test]
fn a_thousand_signals_to_a_thread_that_allocates_and_loads_libraries_are_answered() {
    let traces = traces(1000, a_function_that_allocates);
    let answered = traces.iter().flatten().count();
    let named = traces
        .iter()
        .filter(|trace| contains(trace, "a_function_that_allocates"));
    let without_name = traces
        .iter()
        .filter(|trace| !contains(trace, "a_function_that_allocates"));
    for trace in without_name.take(5) {
        eprintln!("{trace:#?}");
    }
    assert_eq!(answered, 1000);
    // The function is missing if the signal interrupts its first or last instruction, or code
    // without unwind information.
    let named = named.count();
    assert!(named >= 990, "{named} of {answered}");
}

#[test]
fn a_thread_that_blocks_the_signal_has_no_trace_and_does_not_prevent_further_requests() {
    let _one_test = ONE_TEST.lock();
    let (sender, receiver) = mpsc::channel();
    let (finish, finished) = mpsc::channel::<()>();
    let blocked = thread::spawn(move || {
        // SAFETY: the set is initialized by the first call, and the others read or write it.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGURG);
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        }
        sender
            .send(ThreadStack::of_current_thread().unwrap())
            .unwrap();
        let _ = finished.recv();
    });
    let stack = receiver.recv().unwrap();
    let mut sampler = Sampler::new();
    for _ in 0..2 {
        let trace = by_signal(&mut sampler, &stack, Duration::from_millis(20));
        assert_eq!(trace, Err(NoStack::NoAnswer));
    }
    drop(finish);
    blocked.join().unwrap();
}

#[test]
fn a_thread_that_has_ended_has_no_trace() {
    let _one_test = ONE_TEST.lock();
    let stack = thread::spawn(|| ThreadStack::of_current_thread().unwrap());
    let stack = stack.join().unwrap();
    let mut sampler = Sampler::new();
    assert!(by_signal(&mut sampler, &stack, Duration::from_millis(20)).is_err());
}

/// The recorded addresses belong to another stack, as after a change of stacks.
#[test]
fn a_thread_on_another_stack_has_no_trace() {
    let _one_test = ONE_TEST.lock();
    let (sender, receiver) = mpsc::channel();
    let (finish, finished) = mpsc::channel::<()>();
    let thread = thread::spawn(move || {
        sender
            .send(ThreadStack::of_current_thread().unwrap())
            .unwrap();
        let _ = finished.recv();
    });
    let other = receiver.recv().unwrap();
    let stack = ThreadStack {
        thread: other.thread,
        addresses: ThreadStack::of_current_thread().unwrap().addresses,
    };
    let mut sampler = Sampler::new();
    let trace = by_signal(&mut sampler, &stack, LIMIT);
    assert_eq!(trace, Err(NoStack::OtherStack));
    drop(finish);
    thread.join().unwrap();
}

/// Runs `body` as an activity on a thread, and passes its slot and its sequence to `check`.
fn with_slot(prepare: fn(), body: impl FnOnce() + Send, check: impl FnOnce(&ActivitySlot, usize)) {
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            prepare();
            let slot = std::sync::Arc::new(ActivitySlot::of_current_thread());
            sender.send(std::sync::Arc::clone(&slot)).unwrap();
            slot.start(Activity {
                kind: ActivityKind::Poll,
                worker: None,
                id: 1,
                location: None,
            });
            body();
            slot.finish();
        });
        let slot = receiver.recv().unwrap();
        let sequence = loop {
            match slot.running() {
                Some(running) => break running.sequence,
                None => thread::yield_now(),
            }
        };
        thread::sleep(Duration::from_millis(20));
        check(&slot, sequence);
    });
}

/// Takes a sample of a thread that blocks the signal.
fn of_thread_that_blocks_the_signal(body: impl FnOnce() + Send) -> Result<StackTrace, NoStack> {
    let mut result = None;
    with_slot(super::block_signal, body, |slot, sequence| {
        result = Some(Sampler::new().sample(slot, sequence, &mut || ()));
    });
    result.unwrap()
}

#[inline(never)]
fn a_function_that_waits(wait: impl FnOnce()) {
    wait();
    black_box(());
}

#[test]
fn a_signal_is_sent_if_the_system_does_not_report_calls() {
    let _one_test = ONE_TEST.lock();
    let body = || a_function_that_waits(|| thread::sleep(Duration::from_millis(600)));
    with_slot(
        || (),
        body,
        |slot, sequence| {
            let mut sampler = Sampler::new();
            sampler.reads_blocked = false;
            let trace = sampler.sample(slot, sequence, &mut || ());
            let names = trace.ok().map(|trace| function_names(&trace));
            assert!(contains(&names, "a_function_that_waits"), "{names:#?}");
        },
    );
}

#[test]
fn a_stack_that_was_used_to_its_end_has_no_room_for_the_handler() {
    let mut stack = vec![0_u8; 256 * 1024];
    let start = stack.as_ptr() as usize;
    let thread = ThreadStack {
        thread: 0,
        addresses: start..start + stack.len(),
    };
    let memory = super::Memory::open().unwrap();
    assert!(signal::has_room(&thread, &memory));
    stack[200 * 1024] = 1;
    assert!(
        signal::has_room(&thread, &memory),
        "the other end is in use"
    );
    stack[100] = 1;
    assert!(!signal::has_room(&thread, &memory));
}

/// Calls that no signal may end, on a thread that would get no signal.
#[test]
#[cfg_attr(raddle_sanitize, ignore = "the sanitizer has frames of its own")]
fn the_stack_of_a_blocked_thread_is_read_without_a_signal() {
    let timeout = libc::timespec {
        tv_sec: 0,
        tv_nsec: 600_000_000,
    };
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(600)))
        .unwrap();
    type Wait<'a> = Box<dyn Fn() + Send + Sync + 'a>;
    let waits: Vec<(&str, Wait<'_>)> = vec![
        (
            "thread::sleep",
            Box::new(|| thread::sleep(Duration::from_millis(600))),
        ),
        (
            "nanosleep",
            Box::new(|| {
                // SAFETY: the call reads `timeout`, and writes to nothing.
                unsafe { libc::nanosleep(&timeout, std::ptr::null_mut()) };
            }),
        ),
        (
            "poll",
            Box::new(|| {
                // SAFETY: there are no descriptors.
                unsafe { libc::poll(std::ptr::null_mut(), 0, 600) };
            }),
        ),
        (
            "recv with a timeout",
            Box::new(|| drop(socket.recv(&mut [0; 8]))),
        ),
        (
            "recv_timeout",
            Box::new(|| {
                let (_sender, receiver) = mpsc::channel::<()>();
                let _ = receiver.recv_timeout(Duration::from_millis(600));
            }),
        ),
        (
            "park_timeout",
            Box::new(|| thread::park_timeout(Duration::from_millis(600))),
        ),
    ];
    for (name, wait) in &waits {
        let trace = of_thread_that_blocks_the_signal(|| a_function_that_waits(wait));
        let names = trace.as_ref().map(function_names);
        let has_function =
            |names: &Vec<String>| names.iter().any(|n| n.contains("a_function_that_waits"));
        assert!(names.as_ref().is_ok_and(has_function), "{name}: {names:#?}");
        let is_whole = |names: &Vec<String>| names.iter().any(|n| n == "start_thread");
        assert!(names.as_ref().is_ok_and(is_whole), "{name}: {names:#?}");
    }
}

#[test]
fn a_thread_that_runs_and_blocks_the_signal_has_no_trace_at_once() {
    let stop = AtomicBool::new(false);
    let body = || a_function_that_spins(&stop);
    with_slot(super::block_signal, body, |slot, sequence| {
        let start = Instant::now();
        let trace = Sampler::new().sample(slot, sequence, &mut || ());
        assert_eq!(trace, Err(NoStack::SignalBlocked));
        assert!(start.elapsed() < super::LIMIT);
        stop.store(true, Ordering::Relaxed);
    });
}
