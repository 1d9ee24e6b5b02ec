//! Tests the echo server of the examples: its thread allocates nothing after it first waits for a
//! connection.

#[path = "../../examples/bare_echo/reactor.rs"]
pub mod reactor;
#[path = "../../examples/bare_echo/server.rs"]
pub mod server;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

const CLIENTS_PER_ROUND: usize = 8;
const ROUNDS: usize = 4;
const REQUESTS: usize = 50;

struct CountingAllocator;

std::thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: all calls go to the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The allocator of all tests of this binary; it counts for each thread alone.
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn send_requests(address: SocketAddr) {
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
#[cfg_attr(windows, ignore = "the example's reactor allocates on Windows")]
fn a_request_allocates_nothing() {
    let before = ALLOCATIONS.get();
    drop(std::hint::black_box(Box::new(0)));
    assert_eq!(
        ALLOCATIONS.get(),
        before + 1,
        "the allocator counts allocations"
    );

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let clients = thread::spawn(move || {
        for _ in 0..ROUNDS {
            let clients: Vec<_> = (0..CLIENTS_PER_ROUND)
                .map(|_| thread::spawn(move || send_requests(address)))
                .collect();
            for client in clients {
                client.join().unwrap();
            }
        }
    });

    let mut allocations_at_first_wait = None;
    // A connection of one round may still be open while those of the next round are accepted.
    let connections = 2 * CLIENTS_PER_ROUND;
    server::run(listener, connections, ROUNDS * CLIENTS_PER_ROUND, || {
        allocations_at_first_wait.get_or_insert(ALLOCATIONS.get());
    })
    .unwrap();
    assert_eq!(allocations_at_first_wait, Some(ALLOCATIONS.get()));
    clients.join().unwrap();
}
