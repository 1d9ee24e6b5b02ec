//! Samples of stacks on Linux. The stack of a thread that is blocked in a system call is copied
//! from outside; a thread that runs copies its own in a signal handler. Copies are read afterwards.

mod blocked;
mod memory;
mod modules;
mod prologue;
mod sample;
mod signal;
mod thread;

use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::TryLockError;
use std::time::{Duration, Instant};

use framehop::{CacheNative, FrameAddress, MayAllocateDuringUnwind, UnwindRegsNative, Unwinder};
use raddle_primitives::sync::{Arc, Mutex, Rank};

use self::blocked::Outcome;
use self::memory::Memory;
use self::modules::Modules;
use self::sample::{Registers, Sample};
use self::signal::SignalRequest;
use super::{NoStack, StackFrame, StackTrace};
use crate::slot::ActivitySlot;

pub(crate) use self::thread::{ThreadStack, block_signal, unblock_signal};

/// The greatest number of addresses in a trace.
const MAX_DEPTH: usize = 256;

/// The time for which a sample is awaited. It takes a millisecond, unless the thread gets no
/// processor.
const LIMIT: Duration = Duration::from_millis(500);

/// The longest time between two calls of `meanwhile`.
const MEANWHILE: Duration = Duration::from_millis(1);

/// The greatest number of addresses whose functions are kept.
const MAX_SYMBOLS: usize = 4096;

/// A frame pointer that is unknown: no stack is near this address.
const UNKNOWN: u64 = 1 << 62;

/// Held while a signal is under way: the process has one handler, which answers one request at a
/// time.
#[allow(
    clippy::disallowed_types,
    reason = "no model has a watchdog, and the locks of models have no constant value"
)]
// UNRANKED: files are read under it, and no lock but that of a slot is taken.
static SIGNALLING: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Takes samples of stacks and reads them.
pub(crate) struct Sampler {
    memory: Option<Memory>,
    /// Whether the stacks of blocked threads can be read.
    reads_blocked: bool,
    /// The sample of a blocked thread.
    sample: Sample,
    modules: Modules,
    cache: CacheNative<MayAllocateDuringUnwind>,
}

/// A stack that cannot be unwound to its end without the registers of the thread.
#[derive(Debug)]
struct NeedsRegisters;

impl Sampler {
    pub(crate) fn new() -> Self {
        Self {
            memory: Memory::open(),
            reads_blocked: blocked::is_supported(),
            sample: Sample::new(),
            modules: Modules::default(),
            cache: CacheNative::new(),
        }
    }

    /// Reads the unwind information in advance for the first sample.
    pub(crate) fn prepare(&mut self) {
        self.modules.refresh();
    }

    /// Returns the stack of a thread while it runs the activity with this sequence. Calls
    /// `meanwhile` about each millisecond while it waits.
    pub(crate) fn sample(
        &mut self,
        slot: &ActivitySlot,
        sequence: usize,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<StackTrace, NoStack> {
        let Some(thread) = slot.thread_stack() else {
            return Err(NoStack::Returned);
        };
        let addresses = match self.copy_blocked(&thread, meanwhile) {
            Outcome::Copied(call, status) => match self.unwind_blocked() {
                Ok(addresses) => addresses,
                Err(NeedsRegisters) if call.restarts() && !status.blocks(signal::SIGNAL) => {
                    self.signal(slot, sequence, meanwhile)?
                }
                Err(NeedsRegisters) => return Err(NoStack::WouldInterrupt),
            },
            Outcome::OtherStack => return Err(NoStack::OtherStack),
            Outcome::Starved => return Err(NoStack::NoAnswer),
            Outcome::Running(status) if status.blocks(signal::SIGNAL) => {
                return Err(NoStack::SignalBlocked);
            }
            Outcome::Running(_) | Outcome::Unknown => self.signal(slot, sequence, meanwhile)?,
        };
        // Otherwise the stack may be that of another activity.
        match slot.is_running(sequence) {
            true => Ok(StackTrace::new(addresses)),
            false => Err(NoStack::Returned),
        }
    }

    fn copy_blocked(&mut self, thread: &ThreadStack, meanwhile: &mut dyn FnMut()) -> Outcome {
        match &self.memory {
            Some(memory) if self.reads_blocked => {
                blocked::copy(thread, memory, &mut self.sample, LIMIT, meanwhile)
            }
            _ => Outcome::Unknown,
        }
    }

    fn unwind_blocked(&mut self) -> Result<Vec<usize>, NeedsRegisters> {
        self.modules.refresh();
        let Self {
            memory,
            sample,
            modules,
            cache,
            ..
        } = self;
        unwind(sample, modules, cache, memory.as_ref())
    }

    /// Returns the addresses that a thread copies in its signal handler.
    fn signal(
        &mut self,
        slot: &ActivitySlot,
        sequence: usize,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<Vec<usize>, NoStack> {
        let deadline = Instant::now() + LIMIT;
        let _alone = loop {
            match SIGNALLING.try_lock() {
                Ok(guard) => break guard,
                Err(TryLockError::Poisoned(guard)) => break guard.into_inner(),
                Err(TryLockError::WouldBlock) if Instant::now() > deadline => {
                    return Err(NoStack::NoAnswer);
                }
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(MEANWHILE);
                    meanwhile();
                }
            }
        };
        // Checked directly before the signal is sent, since the thread goes on meanwhile. Without
        // access to its memory, it may have no room.
        let memory = self.memory.as_ref();
        let request = |thread: &ThreadStack| match memory {
            Some(memory) if signal::has_room(thread, memory) => {
                signal::send(thread).ok_or(NoStack::NoAnswer)
            }
            _ => Err(NoStack::NoRoom),
        };
        let pending = slot.while_running(sequence, request);
        let pending = pending.ok_or(NoStack::Returned)??;
        self.wait(pending, LIMIT, meanwhile)
    }

    /// Waits for the answer to a signal, and reads it.
    fn wait(
        &mut self,
        pending: SignalRequest,
        limit: Duration,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<Vec<usize>, NoStack> {
        let Self {
            memory,
            modules,
            cache,
            ..
        } = self;
        let read = |sample: &Sample| {
            if sample.is_empty() {
                return Err(NoStack::OtherStack);
            }
            modules.refresh();
            // The handler has the registers.
            unwind(sample, modules, cache, memory.as_ref()).map_err(|_| NoStack::OtherStack)
        };
        let answer = pending.wait(limit, MEANWHILE, meanwhile, read);
        answer.unwrap_or(Err(NoStack::NoAnswer))
    }
}

/// Returns the addresses of the frames of a sample, the innermost first.
fn unwind(
    sample: &Sample,
    modules: &Modules,
    cache: &mut CacheNative<MayAllocateDuringUnwind>,
    memory: Option<&Memory>,
) -> Result<Vec<usize>, NeedsRegisters> {
    let mut registers = start(&sample.registers, modules);
    let needs_frame_pointer = Cell::new(false);
    let mut read = |address: u64| {
        if address.abs_diff(UNKNOWN) < 1 << 32 {
            needs_frame_pointer.set(true);
        }
        sample.word(address).ok_or(())
    };
    let mut address = FrameAddress::from_instruction_pointer(sample.registers.instruction as u64);
    let mut addresses = Vec::new();
    while addresses.len() < MAX_DEPTH {
        addresses.push(address.address_for_lookup() as usize);
        let before = registers;
        let unwinder = &modules.unwinder;
        let next = match unwinder.unwind_frame(address, &mut registers, cache, &mut read) {
            Err(_) if needs_frame_pointer.take() => {
                let (pointer, memory) = (before.sp(), memory.ok_or(NeedsRegisters)?);
                let at = address.address_for_lookup();
                let frame = frame_pointer(at, pointer, sample, modules, memory);
                registers = before;
                set_frame_pointer(&mut registers, frame.ok_or(NeedsRegisters)?);
                unwinder.unwind_frame(address, &mut registers, cache, &mut read)
            }
            next => next,
        };
        // An error ends the trace.
        let next = next
            .ok()
            .flatten()
            .and_then(FrameAddress::from_return_address);
        match next {
            Some(next) => address = next,
            None => break,
        }
    }
    // The innermost function has not stored the address to which it returns.
    #[cfg(target_arch = "aarch64")]
    if sample.registers.link == 0 && addresses.len() == 1 {
        return Err(NeedsRegisters);
    }
    Ok(addresses)
}

#[cfg(target_arch = "x86_64")]
fn start(registers: &Registers, _: &Modules) -> UnwindRegsNative {
    let frame = registers.frame.map_or(UNKNOWN, |frame| frame as u64);
    UnwindRegsNative::new(registers.instruction as u64, registers.stack as u64, frame)
}

#[cfg(target_arch = "aarch64")]
fn start(registers: &Registers, modules: &Modules) -> UnwindRegsNative {
    let frame = registers.frame.map_or(UNKNOWN, |frame| frame as u64);
    let highest = modules.unwinder.max_known_code_address();
    UnwindRegsNative::new_with_ptr_auth_mask(
        framehop::aarch64::PtrAuthMask::from_max_known_address(highest),
        registers.link as u64,
        registers.stack as u64,
        frame,
    )
}

#[cfg(target_arch = "x86_64")]
fn set_frame_pointer(registers: &mut UnwindRegsNative, frame: u64) {
    registers.set_bp(frame);
}

#[cfg(target_arch = "aarch64")]
fn set_frame_pointer(registers: &mut UnwindRegsNative, frame: u64) {
    registers.set_fp(frame);
}

/// Returns the frame pointer of the function at `address` whose stack pointer is `stack`, as its
/// code sets it. Returns `None` if the code is unusual.
fn frame_pointer(
    address: u64,
    stack: u64,
    sample: &Sample,
    modules: &Modules,
    memory: &Memory,
) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    let (register, setting) = (gimli::X86_64::RBP, 0);
    #[cfg(target_arch = "aarch64")]
    let (register, setting) = (gimli::AArch64::X29, size_of::<u32>() as u64);
    // On AArch64 the instruction that sets the register is part of the code.
    let set = modules.frame_pointer_set(address, register)? - setting;
    let length = address.checked_sub(set)?.min(prologue::MAX_CODE as u64) as usize;
    let mut code = [0; prologue::MAX_CODE];
    let read = memory.read(set as usize, &mut code[..length]);
    let frame = stack.checked_add(prologue::frame_size(&code[..read])?)?;
    // The address to which the function returns is stored above its caller's frame pointer.
    let returns = sample.word(frame + size_of::<usize>() as u64)?;
    let mut call = [0; 8];
    let at = (returns as usize).checked_sub(call.len())?;
    let is_call = modules.is_code(returns)
        && memory.read(at, &mut call) == call.len()
        && prologue::ends_with_call(&call);
    is_call.then_some(frame)
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampler").finish_non_exhaustive()
    }
}

/// The functions at addresses that were looked up.
#[allow(
    clippy::disallowed_types,
    reason = "no model has a watchdog, and the locks of models have no constant value"
)]
static SYMBOLS: Mutex<Option<HashMap<usize, Arc<[StackFrame]>>>> =
    Mutex::ranked(Rank::leaf("symbols"), None);

/// Forgets the functions that were looked up, since other code is mapped now.
fn forget_symbols() {
    *SYMBOLS.lock() = None;
}

/// Returns the functions at `addresses`, including inlined ones.
pub(super) fn resolve(addresses: &[usize]) -> Vec<StackFrame> {
    let mut frames = Vec::new();
    for &address in addresses {
        let known = SYMBOLS
            .lock()
            .as_ref()
            .and_then(|symbols| symbols.get(&address).cloned());
        let found = known.unwrap_or_else(|| {
            let found: Arc<[StackFrame]> = look_up(address).into();
            let mut symbols = SYMBOLS.lock();
            let symbols = symbols.get_or_insert_default();
            if symbols.len() < MAX_SYMBOLS {
                symbols.insert(address, Arc::clone(&found));
            }
            found
        });
        frames.extend_from_slice(&found);
    }
    frames
}

/// Returns the functions at an address, which takes milliseconds.
fn look_up(address: usize) -> Vec<StackFrame> {
    let mut frames = Vec::new();
    // `resolve` expects return addresses, and looks up the byte before each.
    backtrace::resolve((address + 1) as *mut c_void, |symbol| {
        frames.push(StackFrame {
            address,
            function: symbol.name().map(|name| format!("{name:#}")),
            file: symbol.filename().map(std::path::Path::to_path_buf),
            line: symbol.lineno(),
        });
    });
    // Line tables name a function without its path if others are inlined into it. The last frame is
    // that of the function itself, which has a symbol.
    if let Some(last) = frames.last_mut() {
        if last.file.is_some()
            && !last
                .function
                .as_deref()
                .is_some_and(|name| name.contains("::"))
        {
            last.function = modules::symbol_name(address as u64).or(last.function.take());
        }
    }
    if frames.is_empty() {
        frames.push(StackFrame {
            address,
            function: None,
            file: None,
            line: None,
        });
    }
    frames
}

#[cfg(test)]
mod tests;
