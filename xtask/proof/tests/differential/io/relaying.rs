//! `copy` as an echo, and `copy_bidirectional` as a proxy, over pipes in memory that are full most
//! of the time: what each client can write and read after each step, and when the copy ends.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_proof::Choices;

use super::api::{AsyncRead as _, AsyncWrite as _, DuplexStream, ReadBuf};
use super::api::{copy, copy_bidirectional_with_sizes, duplex, split};
use super::stream::{in_kinds, size};
use crate::compare::Step;
use crate::record::{end_line, note};

/// More polls than the copy needs until it waits for a client.
const MAX_POLLS: usize = 1_000;

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A copy that is polled whenever it was woken.
struct Copying {
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    woken: Arc<Flag>,
}

impl Copying {
    fn new(future: impl Future<Output = ()> + 'static) -> Self {
        let mut copying = Self {
            future: Some(Box::pin(future)),
            woken: Arc::default(),
        };
        Arc::clone(&copying.woken).wake();
        copying.run();
        copying
    }

    fn run(&mut self) {
        let waker = Waker::from(Arc::clone(&self.woken));
        let mut polls = 0;
        while self.woken.0.swap(false, Ordering::Relaxed) {
            let Some(future) = &mut self.future else {
                return;
            };
            if future
                .as_mut()
                .poll(&mut Context::from_waker(&waker))
                .is_ready()
            {
                self.future = None;
            }
            polls += 1;
            assert!(polls < MAX_POLLS, "the copy never waits");
        }
    }
}

pub(crate) fn run(program: &[Step]) {
    let choices = &mut Choices::new(&program[0]);
    let is_echo = choices.once_in(2);
    let pipes = [size(choices).max(1), size(choices).max(1)];
    let buffers = [size(choices).max(1), size(choices).max(1)];
    let (client, mut near) = duplex(pipes[0]);
    let mut clients = vec![Some(client)];
    let mut copying = match is_echo {
        true => Copying::new(async move {
            let (mut reader, mut writer) = split(near);
            let result = copy(&mut reader, &mut writer).await;
            note!("{:?}", result.map_err(|error| error.kind()));
        }),
        false => {
            let (mut far, server) = duplex(pipes[1]);
            clients.push(Some(server));
            Copying::new(async move {
                let [there, back] = buffers;
                let result = copy_bidirectional_with_sizes(&mut near, &mut far, there, back).await;
                note!("{:?}", result.map_err(|error| error.kind()));
            })
        }
    };
    let mut next_byte = 0;
    for step in &program[1..] {
        let choices = &mut Choices::new(step);
        let which = choices.below(clients.len());
        note!("client {which}:");
        if let Some(client) = &mut clients[which] {
            // After an error Raddle writes what the other direction has read, and Tokio does not.
            let is_used = use_client(client, choices, &mut next_byte);
            if !is_used && is_echo {
                note!("drop");
                clients[which] = None;
            }
        }
        copying.run();
        end_line();
    }
}

/// Reads, writes or shuts down once. Returns whether it has done so.
fn use_client(client: &mut DuplexStream, choices: &mut Choices<'_>, next: &mut u8) -> bool {
    let client = Pin::new(client);
    let cx = &mut Context::from_waker(Waker::noop());
    let kind = choices.below(32);
    let n = size(choices);
    match kind {
        0..=12 => {
            let mut bytes = [0; 100];
            let mut buf = ReadBuf::new(&mut bytes[..n]);
            let polled = in_kinds(client.poll_read(cx, &mut buf));
            note!("read {n} {polled:?} {:?}", buf.filled());
        }
        13..=29 => {
            let bytes: Vec<u8> = (0..n).map(|n| next.wrapping_add(n as u8)).collect();
            let polled = in_kinds(client.poll_write(cx, &bytes));
            if let Poll::Ready(Ok(count)) = polled {
                *next = next.wrapping_add(count as u8);
            }
            note!("write {n} {polled:?}");
        }
        30 => note!("shutdown {:?}", in_kinds(client.poll_shutdown(cx))),
        _ => return false,
    }
    true
}
