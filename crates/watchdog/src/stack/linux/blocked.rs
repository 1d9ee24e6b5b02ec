//! Samples of threads that are blocked in a system call.
//!
//! Such a thread does not run until the call ends, so another thread can copy its stack. No signal
//! is sent, so the call does not end early: many, such as `nanosleep`, `poll` and `epoll_wait`,
//! would return `EINTR` (`man 7 signal`).

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use super::memory::Memory;
use super::sample::{Registers, Sample};
use super::thread::ThreadStack;

/// The shortest and the longest time between two checks of a thread that is not blocked.
const LOOK_INTERVALS: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(2));
/// The processor time for which a thread that gets a signal has not blocked. One that runs for
/// shorter times between calls is read while it is blocked: a signal could arrive when the next
/// call begins.
const MIN_RUN: Duration = Duration::from_millis(1);

/// What a thread does, as `/proc/self/task/<thread>/syscall` reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activity {
    Runs,
    /// It is blocked, but in no system call: in a page fault, for example.
    Faults,
    Calls(Call),
}

/// A system call in which a thread is blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    number: libc::c_long,
    arguments: [usize; 6],
    stack: usize,
    instruction: usize,
}

/// Facts of `/proc/self/task/<thread>/status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status {
    /// How often the thread has blocked. Equal while a thread does not run.
    switches: u64,
    /// The signals that the thread blocks; the lowest bit is signal 1.
    blocked_signals: u64,
}

/// The result of [`copy`].
#[derive(Debug)]
pub(super) enum Outcome {
    /// The sample is taken.
    Copied(Call, Status),
    /// The thread is blocked while it runs on another stack than its own.
    OtherStack,
    /// The thread computes.
    Running(Status),
    /// The thread has got no processor within the limit.
    Starved,
    /// The system does not tell.
    Unknown,
}

/// Returns whether the system reports calls. It does not without `/proc`, and an emulator such as
/// `qemu-user` reports those of its own code.
pub(super) fn is_supported() -> bool {
    let thread = ThreadStack::of_current_thread();
    thread.is_some_and(|thread| match Activity::of(&thread) {
        // This is the call that reads the file.
        Some(Activity::Calls(call)) => {
            call.number == libc::SYS_read && thread.addresses.contains(&call.stack)
        }
        _ => false,
    })
}

/// Copies the stack of a thread that is blocked in a system call. Calls `meanwhile` between
/// checks of a thread that is not.
pub(super) fn copy(
    thread: &ThreadStack,
    memory: &Memory,
    sample: &mut Sample,
    limit: Duration,
    meanwhile: &mut dyn FnMut(),
) -> Outcome {
    let deadline = Instant::now() + limit;
    let mut interval = LOOK_INTERVALS.0;
    let mut since = None;
    loop {
        let Some(status) = Status::of(thread) else {
            return Outcome::Unknown;
        };
        let (switches, began) = *since.get_or_insert((status.switches, thread.processor_time()));
        match Activity::of(thread) {
            None => return Outcome::Unknown,
            Some(Activity::Calls(call)) => {
                if !thread.addresses.contains(&call.stack) {
                    return Outcome::OtherStack;
                }
                copy_words(call, thread, memory, sample);
                // Otherwise the thread has run meanwhile.
                let is_whole = Activity::of(thread) == Some(Activity::Calls(call))
                    && Status::of(thread).map(|now| now.switches) == Some(status.switches);
                if is_whole && !sample.is_empty() {
                    return Outcome::Copied(call, status);
                }
            }
            // The fault goes on after a signal.
            Some(Activity::Faults) => return Outcome::Running(status),
            Some(Activity::Runs) if switches != status.switches => since = None,
            Some(Activity::Runs) => {
                if thread.processor_time().saturating_sub(began) >= MIN_RUN {
                    return Outcome::Running(status);
                }
            }
        }
        if Instant::now() >= deadline {
            return Outcome::Starved;
        }
        thread::sleep(interval);
        interval = (interval * 2).min(LOOK_INTERVALS.1);
        meanwhile();
    }
}

fn copy_words(call: Call, thread: &ThreadStack, memory: &Memory, sample: &mut Sample) {
    let start = call.stack & !(size_of::<usize>() - 1);
    let length = ((thread.addresses.end - start) / size_of::<usize>()).min(sample.words.len());
    sample.registers = Registers {
        instruction: call.instruction,
        stack: call.stack,
        ..Registers::default()
    };
    sample.length = memory.read_words(start, &mut sample.words[..length]);
}

impl Activity {
    fn of(thread: &ThreadStack) -> Option<Self> {
        Self::parse(&read(thread, "syscall")?)
    }

    /// Parses `running`, `-1 <stack> <instruction>`, or the number of a call, its six arguments,
    /// the stack pointer and the address after the instruction, the latter eight in hexadecimal.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let number = match words.next()? {
            "running" => return Some(Self::Runs),
            number => number.parse().ok()?,
        };
        if number < 0 {
            return Some(Self::Faults);
        }
        let mut next = || usize::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
        let mut arguments = [0; 6];
        for argument in &mut arguments {
            *argument = next()?;
        }
        Some(Self::Calls(Call {
            number,
            arguments,
            stack: next()?,
            instruction: next()?,
        }))
    }
}

impl Call {
    /// Returns whether the system continues the call after a signal handler with `SA_RESTART`, for
    /// certain. A read from a socket does not if the socket has a timeout, for example.
    pub(super) fn restarts(&self) -> bool {
        let [first, second, _, fourth, ..] = self.arguments;
        match self.number {
            libc::SYS_wait4 | libc::SYS_waitid | libc::SYS_flock => true,
            libc::SYS_fcntl => [libc::F_SETLKW, libc::F_OFD_SETLKW].contains(&(second as i32)),
            libc::SYS_futex => {
                let flags = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
                match second as i32 & !flags {
                    libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => fourth == 0,
                    libc::FUTEX_LOCK_PI => true,
                    _ => false,
                }
            }
            // A write that has written a part returns that.
            libc::SYS_read | libc::SYS_readv => fs::read_link(format!("/proc/self/fd/{first}"))
                .is_ok_and(|file| file.to_string_lossy().starts_with("pipe:")),
            _ => false,
        }
    }
}

impl Status {
    fn of(thread: &ThreadStack) -> Option<Self> {
        Self::parse(&read(thread, "status")?)
    }

    fn parse(text: &str) -> Option<Self> {
        let field = |name| {
            let value = text.lines().find_map(|line| line.strip_prefix(name))?;
            Some(value.trim())
        };
        Some(Self {
            switches: field("voluntary_ctxt_switches:")?.parse().ok()?,
            blocked_signals: u64::from_str_radix(field("SigBlk:")?, 16).ok()?,
        })
    }

    /// Returns whether the thread blocks the signal.
    pub(super) fn blocks(&self, signal: libc::c_int) -> bool {
        self.blocked_signals >> (signal - 1) & 1 == 1
    }
}

fn read(thread: &ThreadStack, file: &str) -> Option<String> {
    fs::read_to_string(format!("/proc/self/task/{}/{file}", thread.thread)).ok()
}

#[cfg(test)]
mod tests;
