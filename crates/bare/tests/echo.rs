//! The echo server of the examples, whose thread allocates nothing once it waits
//! for its first connection.
#![cfg(all(feature = "std", not(raddle_loom), not(miri)))]

#[path = "../examples/echo/reactor.rs"]
pub mod reactor;
#[path = "../examples/echo/server.rs"]
pub mod server;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

const AT_A_TIME: usize = 8;
const ROUNDS: usize = 4;
const REQUESTS: usize = 50;

struct Counting;

std::thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: it is the system's allocator; the count beside it allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's word, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's word, passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn talk(address: SocketAddr) {
    let mut stream = TcpStream::connect(address).unwrap();
    for request in 0..REQUESTS {
        let sent = [u8::try_from(request).unwrap(); 100];
        stream.write_all(&sent).unwrap();
        let mut received = [0; 100];
        stream.read_exact(&mut received).unwrap();
        assert_eq!(sent, received);
    }
}

#[test]
#[cfg_attr(windows, ignore = "the reactor of the example allocates there")]
fn a_request_allocates_nothing() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(Box::new(0)));
    assert_eq!(ALLOCATIONS.get(), before + 1, "allocations are counted");

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let clients = thread::spawn(move || {
        for _ in 0..ROUNDS {
            let clients: Vec<_> = (0..AT_A_TIME)
                .map(|_| thread::spawn(move || talk(address)))
                .collect();
            for client in clients {
                client.join().unwrap();
            }
        }
    });

    let mut at_first_wait = None;
    // A connection may still be open when the next round's are accepted.
    let connections = 2 * AT_A_TIME;
    server::run(listener, connections, ROUNDS * AT_A_TIME, || {
        at_first_wait.get_or_insert(ALLOCATIONS.get());
    })
    .unwrap();
    assert_eq!(at_first_wait, Some(ALLOCATIONS.get()));
    clients.join().unwrap();
}
