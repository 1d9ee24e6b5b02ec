//! Delays of each thread by the kernel.

use std::time::Duration;

use crate::{Event, Recording};

/// The delays of a thread by the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelDelays {
    /// The number of the thread.
    pub thread: u64,
    /// The time in which the thread was runnable and not running.
    pub delayed: Duration,
    /// The longest such time between two readings.
    pub longest: Duration,
    /// The number of times the thread blocked.
    pub voluntary_switches: u64,
    /// The number of times the kernel preempted it.
    pub involuntary_switches: u64,
}

/// Returns how the kernel delayed each thread, the most delayed first. Threads for which no delay
/// and no context switch was recorded are left out.
pub fn kernel_delays(recording: &Recording) -> Vec<KernelDelays> {
    let mut all = Vec::new();
    for (&number, thread) in &recording.threads {
        let mut found = KernelDelays {
            thread: number,
            ..KernelDelays::default()
        };
        let mut is_known = false;
        for entry in thread.all() {
            match entry.event {
                Event::ThreadDelayed { nanos } => {
                    let time = Duration::from_nanos(nanos);
                    found.delayed += time;
                    found.longest = found.longest.max(time);
                }
                Event::ContextSwitches {
                    voluntary,
                    involuntary,
                } => {
                    found.voluntary_switches += u64::from(voluntary);
                    found.involuntary_switches += u64::from(involuntary);
                }
                _ => continue,
            }
            is_known = true;
        }
        if is_known {
            all.push(found);
        }
    }
    all.sort_by_key(|delays| std::cmp::Reverse(delays.delayed));
    all
}
