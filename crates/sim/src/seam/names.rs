//! The addresses of hosts, by name.

use std::collections::BTreeSet;
use std::ffi::{CStr, c_char};

use libc::{addrinfo, c_int};
use raddle_primitives::sync::Mutex;

use super::next;
use crate::context;

/// A list of one address, as `getaddrinfo` returns it. The C struct is first, so that a pointer to
/// it is one to the whole.
#[repr(C)]
struct Address {
    info: addrinfo,
    addr: libc::sockaddr_in,
}

/// The lists that this file has made and that are not freed.
// UNRANKED: no lock is taken under it.
static LISTS: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

type GetAddrInfo = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const addrinfo,
    *mut *mut addrinfo,
) -> c_int;
type FreeAddrInfo = unsafe extern "C" fn(*mut addrinfo);

#[unsafe(no_mangle)]
unsafe extern "C" fn getaddrinfo(
    node: *const c_char,
    service: *const c_char,
    hints: *const addrinfo,
    into: *mut *mut addrinfo,
) -> c_int {
    // SAFETY: as the caller of the C function promises.
    let name = (!node.is_null()).then(|| unsafe { CStr::from_ptr(node) });
    let name = name.and_then(|name| name.to_str().ok());
    // An address as text needs no name: the C library converts it.
    let name = name.filter(|name| name.parse::<std::net::IpAddr>().is_err());
    let found = name.and_then(|name| {
        context::call(|engine, caller| engine.kernel.lock().resolve(caller.host, name))
    });
    let Some(found) = found else {
        // SAFETY: the C library's function has this type, and the arguments are the caller's.
        return unsafe {
            let call = std::mem::transmute::<*mut libc::c_void, GetAddrInfo>(next(c"getaddrinfo"));
            call(node, service, hints, into)
        };
    };
    // SAFETY: as the caller of the C function promises.
    let hints = unsafe { hints.as_ref() };
    let is_v6_only = hints.is_some_and(|hints| hints.ai_family == libc::AF_INET6);
    let Some(ip) = found.filter(|_| !is_v6_only) else {
        return libc::EAI_NONAME;
    };
    // SAFETY: the struct is integers and pointers, for which zero is a value.
    let mut address: Box<Address> = Box::new(unsafe { std::mem::zeroed() });
    address.addr.sin_family = libc::AF_INET as _;
    address.addr.sin_addr.s_addr = u32::from(ip).to_be();
    if !service.is_null() {
        // SAFETY: as the caller of the C function promises.
        let service = unsafe { CStr::from_ptr(service) };
        let port = service
            .to_str()
            .ok()
            .and_then(|port| port.parse::<u16>().ok());
        address.addr.sin_port = port.unwrap_or(0).to_be();
    }
    let wanted = hints.map_or(0, |hints| hints.ai_socktype);
    address.info.ai_family = libc::AF_INET;
    address.info.ai_socktype = if wanted == 0 {
        libc::SOCK_STREAM
    } else {
        wanted
    };
    address.info.ai_addrlen = size_of::<libc::sockaddr_in>() as _;
    let address = Box::into_raw(address);
    context::as_kernel(|| LISTS.lock().insert(address.expose_provenance()));
    // SAFETY: the list is new, and `into` is writable, as the caller promises.
    unsafe {
        (*address).info.ai_addr = (&raw mut (*address).addr).cast();
        into.write(address.cast());
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn freeaddrinfo(list: *mut addrinfo) {
    if context::as_kernel(|| LISTS.lock().remove(&list.expose_provenance())) {
        // SAFETY: `getaddrinfo` has made it from a box of this type, and it is freed once.
        return drop(unsafe { Box::from_raw(list.cast::<Address>()) });
    }
    // SAFETY: the C library's function has this type, and the list is from its other function.
    unsafe {
        let call = std::mem::transmute::<*mut libc::c_void, FreeAddrInfo>(next(c"freeaddrinfo"));
        call(list);
    }
}

/// The name of a host, for the program that runs on it.
#[unsafe(no_mangle)]
unsafe extern "C" fn gethostname(into: *mut c_char, length: usize) -> c_int {
    let name = context::call(|engine, caller| engine.kernel.lock().hosts[caller.host].name.clone());
    let name = match name {
        Some(name) => name.into_bytes(),
        None => system_name(),
    };
    if name.len() >= length {
        super::set_errno(libc::ENAMETOOLONG);
        return -1;
    }
    // SAFETY: there is room for the name and a zero.
    unsafe {
        into.cast::<u8>()
            .copy_from_nonoverlapping(name.as_ptr(), name.len());
        into.add(name.len()).write(0);
    }
    0
}

fn system_name() -> Vec<u8> {
    let mut names = std::mem::MaybeUninit::<libc::utsname>::zeroed();
    // SAFETY: the call writes the struct, whose names end with zeros.
    unsafe {
        libc::uname(names.as_mut_ptr());
        CStr::from_ptr((*names.as_ptr()).nodename.as_ptr())
            .to_bytes()
            .to_owned()
    }
}
