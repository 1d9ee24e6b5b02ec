//! Samples of stacks on Linux: a signal copies the stack, and its copy is read afterwards.

mod modules;
mod signal;
mod thread;

use std::ffi::c_void;
use std::time::Duration;

use framehop::{CacheNative, MayAllocateDuringUnwind, UnwindRegsNative, Unwinder};

use self::modules::Modules;
use self::signal::{Sample, SignalRequest};
use super::{StackFrame, StackTrace};

pub(crate) use self::thread::ThreadStack;

/// The greatest number of addresses in a trace.
const MAX_DEPTH: usize = 256;

/// Takes samples of stacks and reads them.
pub(crate) struct Sampler {
    modules: Modules,
    cache: CacheNative<MayAllocateDuringUnwind>,
}

/// A sample that was requested.
pub(crate) struct Pending(SignalRequest);

impl Sampler {
    pub(crate) fn new() -> Self {
        Self {
            modules: Modules::default(),
            cache: CacheNative::new(),
        }
    }

    /// Reads the unwind information in advance for the first sample.
    pub(crate) fn prepare(&mut self) {
        self.modules.refresh();
    }

    /// Sends the signal. Returns `None` if it cannot be sent, or if another request of the process
    /// is under way.
    ///
    /// The thread must not end before this returns.
    pub(crate) fn request(&self, thread: &ThreadStack) -> Option<Pending> {
        signal::send(thread).map(Pending)
    }

    /// Waits for the sample and reads it. Returns `None` if the thread has not answered within
    /// `limit`, or runs on another stack than its own.
    pub(crate) fn wait(&mut self, pending: Pending, limit: Duration) -> Option<StackTrace> {
        let read = |sample: &Sample| self.unwind(sample);
        let addresses = pending.0.wait(limit, read)?;
        (!addresses.is_empty()).then_some(StackTrace { addresses })
    }

    fn unwind(&mut self, sample: &Sample) -> Vec<usize> {
        if sample.is_empty() {
            return Vec::new();
        }
        self.modules.refresh();
        let registers = &sample.registers;
        #[cfg(target_arch = "x86_64")]
        let start = UnwindRegsNative::new(
            registers.instruction as u64,
            registers.stack as u64,
            registers.frame as u64,
        );
        #[cfg(target_arch = "aarch64")]
        let start = UnwindRegsNative::new_with_ptr_auth_mask(
            framehop::aarch64::PtrAuthMask::from_max_known_address(
                self.modules.unwinder.max_known_code_address(),
            ),
            registers.link as u64,
            registers.stack as u64,
            registers.frame as u64,
        );
        let mut read = |address: u64| sample.word(address).ok_or(());
        let instruction = registers.instruction as u64;
        let unwinder = &self.modules.unwinder;
        let mut frames = unwinder.iter_frames(instruction, start, &mut self.cache, &mut read);
        let mut addresses = Vec::new();
        // An error ends the trace.
        while let Ok(Some(frame)) = frames.next() {
            addresses.push(frame.address_for_lookup() as usize);
            if addresses.len() == MAX_DEPTH {
                break;
            }
        }
        addresses
    }
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampler").finish_non_exhaustive()
    }
}

/// Returns the functions at `addresses`, including inlined ones.
pub(super) fn resolve(addresses: &[usize]) -> Vec<StackFrame> {
    let mut frames = Vec::new();
    for &address in addresses {
        let known = frames.len();
        // `resolve` expects return addresses, and looks up the byte before each.
        backtrace::resolve((address + 1) as *mut c_void, |symbol| {
            frames.push(StackFrame {
                address,
                function: symbol.name().map(|name| format!("{name:#}")),
                file: symbol.filename().map(std::path::Path::to_path_buf),
                line: symbol.lineno(),
            });
        });
        if frames.len() == known {
            frames.push(StackFrame {
                address,
                function: None,
                file: None,
                line: None,
            });
        }
    }
    frames
}

#[cfg(test)]
mod tests;
