//! The options of sockets for datagrams to many.

use std::net::Ipv4Addr;

use libc::{c_int, c_void, socklen_t};

use super::{Waits, operate};
use crate::kernel::files::Kind;
use crate::kernel::{Errno, Result};

/// Sets an option that the system's socket must not have: it would join the group on the machine's
/// network. `None`: the system sets it.
///
/// # Safety
///
/// So many bytes of the value are valid.
pub(super) unsafe fn set_option(
    fd: c_int,
    option: (c_int, c_int),
    value: *const c_void,
    length: socklen_t,
) -> Option<Result<()>> {
    let result = operate(fd, Waits::Never, |kernel, file, owner| {
        let Kind::Udp(socket) = &mut kernel.files.get_mut(file).kind else {
            return Ok(false);
        };
        match option {
            (libc::IPPROTO_IP, libc::IP_ADD_MEMBERSHIP | libc::IP_DROP_MEMBERSHIP) => {
                if (length as usize) < size_of::<libc::ip_mreq>() {
                    return Err(Errno(libc::EINVAL));
                }
                // SAFETY: there are bytes enough, which need not be aligned. `ip_mreqn` begins with
                // the group too.
                let group = unsafe { value.cast::<libc::in_addr>().read_unaligned() };
                let group = Ipv4Addr::from(u32::from_be(group.s_addr));
                let joins = option.1 == libc::IP_ADD_MEMBERSHIP;
                kernel.change_membership(owner.host, file, group, joins)?;
                Ok(true)
            }
            (libc::IPPROTO_IP, libc::IP_MULTICAST_LOOP) if length > 0 => {
                let length = (length as usize).min(size_of::<c_int>());
                // SAFETY: there are so many bytes: one, or those of a number.
                let bytes = unsafe { std::slice::from_raw_parts(value.cast::<u8>(), length) };
                socket.is_loop_off = bytes.iter().all(|byte| *byte == 0);
                Ok(false)
            }
            (libc::IPPROTO_IPV6, libc::IPV6_ADD_MEMBERSHIP | libc::IPV6_DROP_MEMBERSHIP) => {
                kernel.record_unsimulated("groups of IPv6".to_owned());
                Err(Errno(libc::ENODEV))
            }
            _ => Ok(false),
        }
    });
    match result {
        Some(Ok(true)) => Some(Ok(())),
        Some(Err(error)) => Some(Err(error)),
        _ => None,
    }
}
