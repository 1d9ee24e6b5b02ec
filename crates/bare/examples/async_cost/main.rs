//! Counts the I/O calls of one server, written as a poll loop and as async functions on
//! raddle-bare. Both use in-memory I/O.

pub mod fake_io;
pub mod poll_loop;
pub mod reactor;
pub mod tasks;

use std::convert::Infallible;
use std::error::Error;
use std::pin::pin;

use fake_io::{Calls, Counts};
use poll_loop::PollLoop;
use raddle_bare::{Executor, Slab, Spawner};
use reactor::Reactor;
use tasks::{Job, Spawn, serve};

fn main() -> Result<(), Box<dyn Error>> {
    for requests in [32, 256] {
        println!("{requests} requests");
        for (suffix, syscalls) in [("", false), (", system calls", true)] {
            let calls = || match syscalls {
                false => Ok(Calls::in_memory()),
                true => Calls::with_syscalls(),
            };
            let sync = run_sync(&calls()?, requests)?;
            println!("  sync{suffix}:  {sync}");
            let of_async = run_async(&calls()?, requests);
            println!("  async{suffix}: {of_async}");
        }
    }
    Ok(())
}

fn run_sync(calls: &Calls, requests: usize) -> Result<Counts, Box<dyn Error>> {
    let mut poll_loop = PollLoop::new(calls, requests);
    poll_loop.run(requests)?;
    Ok(calls.take())
}

fn run_async(calls: &Calls, requests: usize) -> Counts {
    let reactor = &Reactor::new(calls, requests + 1);
    let spawner = &Spawner::new();
    let storage = Slab::with_capacity(requests + 1);
    let executor = pin!(Executor::new(spawner, storage, |job| {
        serve::<128>(reactor, Bare(spawner), job)
    }));
    let executor = executor.as_ref();
    executor
        .spawn(Job::Listen(requests))
        .expect("the executor has no task yet");
    let Ok(()) = executor.run(|_| {
        reactor.poll();
        Ok::<(), Infallible>(())
    });
    calls.take()
}

struct Bare<'s, 'c>(&'s Spawner<Job<'c>>);

impl<'c> Spawn<'c> for Bare<'_, 'c> {
    fn spawn(&self, job: Job<'c>) {
        self.0.spawn(job).expect("there is room for every request");
    }
}
