//! What a future contains when it becomes a task, for task dumps: the guards of locks and the ends
//! of channels, which [`raddle_leaf::wait`] finds among the words of the future.

use std::ptr;

/// Records what a value contains that was just moved to the heap: the box may become a task.
/// [`box_if_large`](crate::box_if_large) calls it.
#[doc(hidden)]
#[inline(always)]
pub fn note_boxed<T>(value: &T) {
    let address = ptr::from_ref(value).addr();
    raddle_leaf::wait::boxed(address, |word| read(value, word));
}

/// Records that what a future contains belongs to its task from now on.
#[inline(always)]
pub(crate) fn note_spawned<T>(task: u64, future: &T) {
    raddle_leaf::wait::spawned(task, |word| read(future, word));
}

/// Passes the words of a value on, in order.
#[cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64",
    not(any(miri, raddle_loom))
))]
fn read<T>(value: &T, word: &mut dyn FnMut(usize)) {
    if align_of::<T>() < align_of::<usize>() {
        // It contains no pointer.
        return;
    }
    let start = ptr::from_ref(value).cast::<usize>();
    for index in 0..size_of::<T>() / size_of::<usize>() {
        let loaded: usize;
        // SAFETY: the address is aligned and inside the value, which is borrowed. The caller has
        // just moved the value here, so nothing refers into it yet that could change it. Rust must
        // not read padding and unused memory, but an instruction may: it loads bytes that mean
        // nothing.
        unsafe {
            let address = start.add(index);
            #[cfg(target_arch = "x86_64")]
            std::arch::asm!(
                "mov {}, qword ptr [{}]",
                lateout(reg) loaded,
                in(reg) address,
                options(nostack, readonly, preserves_flags)
            );
            #[cfg(target_arch = "aarch64")]
            std::arch::asm!(
                "ldr {}, [{}]",
                lateout(reg) loaded,
                in(reg) address,
                options(nostack, readonly, preserves_flags)
            );
        }
        word(loaded);
    }
}

/// On other processors a task dump does not know these guards and ends.
#[cfg(not(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_pointer_width = "64",
    not(any(miri, raddle_loom))
)))]
fn read<T>(_value: &T, _word: &mut dyn FnMut(usize)) {}
