//! A filter of system calls that injects rare errors of the operating system into one thread.

use std::io;

/// Whether threads can have such filters. qemu-user has none.
pub fn is_possible() -> bool {
    !is_emulated()
}

/// Whether this program runs under qemu-user. `cargo xtask platforms` sets the variable.
pub fn is_emulated() -> bool {
    let is_emulated = std::env::var_os("RADDLE_EMULATED").is_some();
    if is_emulated {
        println!("skipped: qemu-user does not support what this test needs");
    }
    is_emulated
}

/// Makes each such call of this thread fail with `code` from now on. This cannot be undone, so the
/// thread must end with the test.
pub fn refuse(call: libc::c_long, code: i32) {
    let statement = |code, k| libc::sock_filter {
        code: u16::try_from(code).unwrap(),
        jt: 0,
        jf: 0,
        k,
    };
    let number = u32::try_from(call).unwrap();
    let error = u32::try_from(code).unwrap();
    let load = |offset| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset);
    // Skips the next `otherwise` statements unless the loaded word is `k`.
    let is_equal = |k, otherwise| libc::sock_filter {
        jf: otherwise,
        ..statement(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, k)
    };
    let fail = statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | error);
    // The filter reads the number of the system call from the first field of its input.
    let mut filter = vec![load(0), is_equal(number, 1), fail];
    #[cfg(target_arch = "x86")]
    if call == libc::SYS_accept4 {
        // On this target glibc makes this call through another one, whose first argument selects
        // the operation: SYS_ACCEPT4 of <linux/net.h>. The arguments follow two words and a 64-bit
        // pointer.
        let socketcall = u32::try_from(libc::SYS_socketcall).unwrap();
        filter.extend([is_equal(socketcall, 3), load(16), is_equal(18, 1), fail]);
    }
    filter.push(statement(
        libc::BPF_RET | libc::BPF_K,
        libc::SECCOMP_RET_ALLOW,
    ));
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).unwrap(),
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the call concerns only this thread, and reads the program, which is complete and
    // outlives the call.
    let result = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program)
    };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
}
