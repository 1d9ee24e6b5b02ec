//! The signal that copies the stack of the thread that gets it.
//!
//! The crate's README lists the functions that run in the handler, and says why each may.

use std::arch::asm;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::memory::Memory;
use super::sample::{Registers, Sample};
use super::thread::ThreadStack;
use crate::exchange::{Exchange, Request};

/// The signal of a request. The system ignores it without a handler, no other part of Raddle uses
/// it, and debuggers pass it on. Go's runtime uses it for the same reasons.
pub(super) const SIGNAL: c_int = libc::SIGURG;

/// The part of a stack that a handler may need in addition to what the system stores there.
const HANDLER_ROOM: usize = 8 * 1024;

/// The data that the handler needs. Created once in a process and never freed, so that a signal may
/// come at any time.
struct Shared {
    exchange: Exchange<Sample>,
    /// An event descriptor, to which the handler writes after it has written the sample.
    answered: OwnedFd,
}

static SHARED: OnceLock<Option<Shared>> = OnceLock::new();

/// The handler that was installed before.
static FORMER: OnceLock<libc::sigaction> = OnceLock::new();

/// Returns whether the handler has room on the stack of a thread that runs: the system would end
/// the process otherwise. The thread has written nothing to the last part of its stack, so it has
/// never been that deep.
pub(super) fn has_room(thread: &ThreadStack, memory: &Memory) -> bool {
    // SAFETY: the call takes an integer. It returns 0 if the system does not know the value.
    let context = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) } as usize;
    let low = thread.addresses.start;
    memory.is_zero(low..low + context.max(libc::MINSIGSTKSZ) + HANDLER_ROOM)
}

/// A request that was sent.
pub(super) struct SignalRequest(Request<'static, Sample>);

/// Requests a sample from a thread. Returns `None` if the signal cannot be sent, or if another
/// request of the process is under way.
///
/// The thread must not end before this returns, because another thread could get its number. Such a
/// thread would not answer, because it has another stack.
pub(super) fn send(thread: &ThreadStack) -> Option<SignalRequest> {
    let shared = SHARED.get_or_init(install).as_ref()?;
    let request = shared.exchange.request(thread.addresses.clone())?;
    // SAFETY: the call takes three integers. It signals a thread of this process or none.
    let result = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread.thread, SIGNAL) };
    (result == 0).then_some(SignalRequest(request))
}

impl SignalRequest {
    /// Waits for the sample. Returns `None` if there is none within `limit`.
    ///
    /// It calls `meanwhile` about each `interval`.
    pub(super) fn wait<R>(
        self,
        limit: Duration,
        interval: Duration,
        meanwhile: &mut dyn FnMut(),
        read: impl FnOnce(&Sample) -> R,
    ) -> Option<R> {
        let shared = SHARED.get()?.as_ref()?;
        let deadline = Instant::now() + limit;
        while !self.0.is_answered() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            wait_readable(&shared.answered, left.min(interval));
            drain(&shared.answered);
            if !self.0.is_answered() {
                meanwhile();
            }
        }
        self.0.read(read)
    }
}

/// Installs the handler. Returns `None` if the system refuses.
fn install() -> Option<Shared> {
    // SAFETY: the call takes two integers and makes a descriptor.
    let descriptor = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
    if descriptor < 0 {
        return None;
    }
    let shared = Shared {
        exchange: Exchange::new(Sample::new()),
        // SAFETY: the system has just opened the descriptor, which nothing else owns.
        answered: unsafe { OwnedFd::from_raw_fd(descriptor) },
    };
    // SAFETY: zeros are a value of this structure of integers and a pointer.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
    action.sa_sigaction = handler as usize;
    // The handler runs on the stack that it interrupts: the thread's signal stack may be one of the
    // application, too small for the registers that the system stores on it.
    action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | former_signal_stack();
    // With all signals in the mask, no other handler interrupts this one.
    // SAFETY: the call writes to the set, which is part of `action`.
    unsafe { libc::sigfillset(&mut action.sa_mask) };
    let mut former = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: `action` is initialized, its handler calls only async-signal-safe functions, and the
    // call writes to `former`.
    if unsafe { libc::sigaction(SIGNAL, &action, former.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: the call has succeeded, so it has written the former action.
    let _ = FORMER.set(unsafe { former.assume_init() });
    Some(shared)
}

/// Returns `SA_ONSTACK` if the former handler runs on the signal stack. That of Go does, which runs
/// code on small stacks, and gives its threads large signal stacks.
fn former_signal_stack() -> c_int {
    let mut former = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: the call writes to `former`, which is read only if it has succeeded.
    let former = unsafe {
        let result = libc::sigaction(SIGNAL, std::ptr::null(), former.as_mut_ptr());
        (result == 0).then(|| former.assume_init())
    };
    let is_function = |former: &libc::sigaction| {
        former.sa_sigaction != libc::SIG_DFL && former.sa_sigaction != libc::SIG_IGN
    };
    let former = former.filter(is_function);
    former.map_or(0, |former| former.sa_flags & libc::SA_ONSTACK)
}

/// The handler. It copies the registers and the stack of the thread that it interrupts.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the call returns the address of the thread's error number. It is not borrowed: the
    // code that this handler interrupts may have a reference to it.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: the address is valid as long as the thread.
    let before = unsafe { errno.read() };
    // SAFETY: the system passes a valid structure to a handler with SA_SIGINFO.
    if unsafe { is_own(&*info) } {
        if let Some(Some(shared)) = SHARED.get() {
            // SAFETY: the system passes the context of the thread that the handler interrupts.
            let registers = unsafe { registers(&*context.cast::<libc::ucontext_t>()) };
            shared.exchange.answer(|addresses, sample| {
                sample.registers = registers;
                sample.length = copy_stack(registers.stack, addresses, &mut sample.words);
            });
            notify(&shared.answered);
        }
    }
    // Also after an answer: another sender's signal may have merged with that of the request. Go
    // sends SIGURG in the same way, and waits until its handler has run.
    call_former(signal, info, context);
    // SAFETY: as above.
    unsafe { errno.write(before) };
}

/// Returns whether a thread of this process has sent the signal.
fn is_own(info: &libc::siginfo_t) -> bool {
    // SAFETY: a signal that was sent by `tgkill` has the number of its sender's process, and
    // `getpid` has no conditions.
    info.si_code == libc::SI_TKILL && unsafe { info.si_pid() == libc::getpid() }
}

/// Passes the signal on to the handler that was installed before.
fn call_former(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(former) = FORMER.get() else {
        return;
    };
    let handler = former.sa_sigaction;
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // With either value the system ignores the signal.
        return;
    }
    if former.sa_flags & libc::SA_SIGINFO != 0 {
        // SAFETY: with this flag the action is a function of three arguments.
        let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
            unsafe { std::mem::transmute(handler) };
        handler(signal, info, context);
    } else {
        // SAFETY: without the flag the action is a function of one argument.
        let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
        handler(signal);
    }
}

#[cfg(target_arch = "x86_64")]
fn registers(context: &libc::ucontext_t) -> Registers {
    let registers = &context.uc_mcontext.gregs;
    Registers {
        instruction: registers[libc::REG_RIP as usize] as usize,
        stack: registers[libc::REG_RSP as usize] as usize,
        frame: Some(registers[libc::REG_RBP as usize] as usize),
    }
}

#[cfg(target_arch = "aarch64")]
fn registers(context: &libc::ucontext_t) -> Registers {
    let machine = &context.uc_mcontext;
    Registers {
        instruction: machine.pc as usize,
        stack: machine.sp as usize,
        frame: Some(machine.regs[29] as usize),
        link: machine.regs[30] as usize,
    }
}

/// Copies the calling thread's stack from `pointer` up, and returns the number of words. Copies
/// nothing if the thread is on another stack than `addresses`.
fn copy_stack(pointer: usize, addresses: Range<usize>, words: &mut [usize]) -> usize {
    if !addresses.contains(&pointer) {
        return 0;
    }
    let start = pointer & !(size_of::<usize>() - 1);
    let length = ((addresses.end - start) / size_of::<usize>()).min(words.len());
    // SAFETY: the thread runs on the stack `addresses`, so the memory from its stack pointer to the
    // end of `addresses` is mapped. Its functions do not run before the handler returns; what other
    // threads write to it meanwhile makes words that mean nothing. `words` has room for `length`,
    // and is not on that stack.
    unsafe { copy_words(start, words.as_mut_ptr(), length) };
    length
}

/// Copies words as they are, initialized or not.
///
/// In assembly, because a Rust load must not read uninitialized memory, and a sanitizer would
/// report reads between variables.
///
/// # Safety
///
/// `source` is the address of `length` mapped words, `target` is valid for `length` writes, and the
/// two do not overlap.
unsafe fn copy_words(source: usize, target: *mut usize, length: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: as the caller promises. The direction flag is clear in a handler.
    unsafe {
        asm!(
            "rep movsq",
            inout("rsi") source => _,
            inout("rdi") target => _,
            inout("rcx") length => _,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as the caller promises.
    unsafe {
        asm!(
            "2:",
            "cbz {length}, 3f",
            "ldr {word}, [{source}], #8",
            "str {word}, [{target}], #8",
            "sub {length}, {length}, #1",
            "b 2b",
            "3:",
            source = inout(reg) source => _,
            target = inout(reg) target => _,
            length = inout(reg) length => _,
            word = out(reg) _,
            options(nostack, preserves_flags),
        );
    }
}

fn notify(answered: &OwnedFd) {
    let one = 1_u64;
    // SAFETY: the call reads the 8 bytes of `one`. It fails if the count is full: then the
    // descriptor is readable already.
    unsafe { libc::write(answered.as_raw_fd(), (&raw const one).cast(), 8) };
}

fn drain(answered: &OwnedFd) {
    let mut count = 0_u64;
    // SAFETY: the call writes to the 8 bytes of `count`, or fails if the count is zero.
    unsafe { libc::read(answered.as_raw_fd(), (&raw mut count).cast(), 8) };
}

/// Waits until the descriptor is readable, for at most `limit`, rounded up to milliseconds. May
/// return early.
fn wait_readable(answered: &OwnedFd, limit: Duration) {
    let mut descriptor = libc::pollfd {
        fd: answered.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let limit = c_int::try_from(limit.as_millis() + 1).unwrap_or(c_int::MAX);
    // SAFETY: the call reads and writes the one element.
    unsafe { libc::poll(&mut descriptor, 1, limit) };
}
