//! The frame pointer of a function whose frame is known only by it.
//!
//! The system reports the stack pointer of a blocked thread and no other register. Unwind
//! information of a function that uses a frame pointer refers to that register. Its code tells
//! the distance between the two: the instructions after the one that sets the frame pointer.

/// The largest number of bytes of code that is read.
pub(super) const MAX_CODE: usize = 128;

/// sub rsp, 4096; mov qword ptr [rsp], 0; cmp rsp, r11; jne. The distance of the jump follows.
#[cfg(any(target_arch = "x86_64", test))]
const PROBE_LOOP: &[u8] = &[
    0x48, 0x81, 0xec, 0x00, 0x10, 0x00, 0x00, 0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0, 0x4c, 0x39, 0xdc,
    0x75,
];

/// Returns the distance from the stack pointer to the frame pointer in the body of a function.
///
/// `code` begins at the instruction after the one that sets the frame pointer, and ends at the
/// function's current instruction. Returns `None` if the distance is not constant, or if the
/// instructions are not the usual ones.
#[cfg(any(target_arch = "x86_64", test))]
pub(super) fn frame_size_x86_64(mut code: &[u8]) -> Option<u64> {
    let number = |bytes: &[u8]| Some(u64::from(u32::from_le_bytes(bytes.try_into().ok()?)));
    let mut size: u64 = 0;
    loop {
        code = match code {
            // push
            [0x50..=0x57, rest @ ..] | [0x41, 0x50..=0x57, rest @ ..] => {
                size += 8;
                rest
            }
            // sub rsp, imm8
            [0x48, 0x83, 0xec, length, ..] => return Some(size + u64::from(*length)),
            // sub rsp, imm32
            [0x48, 0x81, 0xec, rest @ ..] if rest.len() >= 4 => {
                size += number(&rest[..4])?;
                match &rest[4..] {
                    // A stack probe, mov qword ptr [rsp], 0: the rest of the frame follows.
                    [0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0, rest @ ..] => rest,
                    _ => return Some(size),
                }
            }
            // lea r11, [rsp - imm32], and a loop of probes that lowers rsp to that address.
            [0x4c, 0x8d, 0x9c, 0x24, rest @ ..] if rest.len() >= 4 => {
                let distance = i32::from_le_bytes(rest[..4].try_into().ok()?);
                size += u64::from(distance.checked_neg()?.try_into().unwrap_or(0_u32));
                rest[4..].strip_prefix(PROBE_LOOP)?.get(1..)?
            }
            // and rsp, imm
            [0x48, 0x83 | 0x81, 0xe4, ..] => return None,
            _ => return Some(size),
        };
    }
}

/// Returns whether the bytes end with a call instruction: `e8` and a distance, or `ff /2`.
#[cfg(any(target_arch = "x86_64", test))]
pub(super) fn ends_with_call_x86_64(code: &[u8]) -> bool {
    let at = |back: usize| code.len().checked_sub(back).map(|index| code[index]);
    let is_indirect =
        |length| at(length) == Some(0xff) && at(length - 1).map(|b| b >> 3 & 7) == Some(2);
    at(5) == Some(0xe8) || [2, 3, 4, 6, 7].into_iter().any(is_indirect)
}

/// As [`frame_size_x86_64`], but `code` begins with the instruction that sets the frame pointer,
/// `add x29, sp, #imm`.
#[cfg(any(target_arch = "aarch64", test))]
pub(super) fn frame_size_aarch64(code: &[u8]) -> Option<u64> {
    let words = code.chunks_exact(4);
    let mut words = words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let immediate = |word: u32| {
        let number = u64::from(word >> 10 & 0xfff);
        match word >> 22 & 1 {
            1 => number << 12,
            _ => number,
        }
    };
    let first = words.next()?;
    // add x29, sp, #imm
    if first & 0xff80_03ff != 0x9100_03fd {
        return None;
    }
    let mut size = immediate(first);
    for word in words {
        match word {
            // sub sp, sp, #imm
            _ if word & 0xff80_03ff == 0xd100_03ff => size += immediate(word),
            // Another instruction whose result is the stack pointer: and sp, x9, #imm; sub sp, sp,
            // x9; mov sp, x9.
            _ if word & 0xff80_001f == 0x9200_001f || word & 0xffe0_001f == 0xcb20_001f => {
                return None;
            }
            _ if word & 0xffff_fc1f == 0x9100_001f => return None,
            // A call or a branch: the prologue is over.
            _ if word & 0x7c00_0000 == 0x1400_0000 || word & 0xfe00_0000 == 0xd600_0000 => break,
            _ => {}
        }
    }
    Some(size)
}

/// Returns whether the bytes end with `bl` or `blr`.
#[cfg(any(target_arch = "aarch64", test))]
pub(super) fn ends_with_call_aarch64(code: &[u8]) -> bool {
    let Some(last) = code.last_chunk() else {
        return false;
    };
    let word = u32::from_le_bytes(*last);
    word >> 26 == 0b10_0101 || word & 0xffff_fc1f == 0xd63f_0000
}

#[cfg(target_arch = "aarch64")]
pub(super) use {ends_with_call_aarch64 as ends_with_call, frame_size_aarch64 as frame_size};
#[cfg(target_arch = "x86_64")]
pub(super) use {ends_with_call_x86_64 as ends_with_call, frame_size_x86_64 as frame_size};

#[cfg(test)]
mod tests;
