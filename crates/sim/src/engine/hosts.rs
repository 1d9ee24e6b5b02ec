//! The hosts of a simulation: how they start and go down, and how their workers are stepped.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::time::Duration;

use raddle::runtime::Builder;
use raddle::runtime::stepped::{JobObserver, Observer, StepOutcome, SteppedWorker, Stepper};
use raddle::time::Instant;
use raddle_primitives::sync::MutexGuard;

use super::{Down, Engine, Main, text_of};
use crate::context;
use crate::kernel::{Caller, Event, Kernel, nanos};
use crate::recording::{self, HostObserver, Recorder};
use crate::trace::Record;

/// How many steps a worker may make when no other can.
const MAX_STEPS_ALONE: usize = 64;
/// How often the workers of a host are stepped without a pause. One of them makes up to
/// [`MAX_STEPS_ALONE`] steps each time.
const MAX_ROUNDS: u32 = 200;
/// The length of that pause, in nanoseconds.
const YIELD: u64 = 100_000;

/// The source file that has spawned a task which runs the future of a host.
pub(crate) const FILE: &str = file!();

impl Engine {
    /// A fault that keeps a host down has ended: starts it, unless another one does.
    pub(crate) fn restart(&self, number: usize) {
        let mut kernel = self.kernel.lock();
        let process = &mut kernel.hosts[number].process;
        process.down -= 1;
        let is_last = process.down == 0;
        drop(kernel);
        if is_last {
            self.boot(number);
        }
    }

    /// Starts a host that is not up.
    pub(crate) fn boot(&self, number: usize) {
        let mut kernel = self.kernel.lock();
        let host = &mut kernel.hosts[number];
        host.boot += 1;
        (host.is_up, host.driver, host.has_events) = (true, None, false);
        host.may_be_unparked = false;
        let caller = Caller {
            host: number,
            boot: host.boot,
        };
        let (count, make_main) = (
            host.process.worker_count,
            Arc::clone(&host.process.make_main),
        );
        let recorder = kernel.recorder.clone();
        let main_recorder = recorder.clone();
        drop(kernel);

        let stepper = HostStepper {
            engine: self.this.clone(),
            caller,
            recorder,
        };
        let (engine, has_dumps) = (self.this.clone(), self.has_dumps);
        let built = context::as_host(caller, self.clocks(caller.host), move || {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(count);
            if has_dumps {
                builder.enable_task_dumps();
            }
            let (runtime, workers) = builder.build_stepped(Arc::new(stepper))?;
            let main = {
                let _entered = runtime.handle().enter();
                let made = std::panic::catch_unwind(AssertUnwindSafe(|| make_main()));
                made.unwrap_or_else(|payload| {
                    let error = format!("panicked: {}", text_of(&*payload));
                    Box::pin(std::future::ready(Err(error)))
                })
            };
            let report = move |result| {
                if let Some(engine) = engine.upgrade() {
                    context::as_kernel(|| engine.main_has_ended(caller, result));
                }
            };
            let main = runtime.handle().spawn(watched(main, report));
            if let Some(recorder) = main_recorder {
                recorder.main_task(number, main.id());
            }
            drop(main);
            std::io::Result::Ok((runtime, workers))
        });
        match built {
            Ok((runtime, workers)) => {
                let mut kernel = self.kernel.lock();
                if !kernel.is_alive(caller) {
                    // It was taken down while the closure of the test ran.
                    drop(kernel);
                    return context::as_host(caller, self.clocks(number), || {
                        drop((workers, runtime));
                    });
                }
                let process = &mut kernel.hosts[number].process;
                process.runtime = Some(Arc::new(runtime));
                process.workers = workers.into_iter().map(Some).collect();
                process.wake_at = u64::MAX;
                process.is_check_scheduled = false;
                process.poll_ends = None;
                kernel.make_ready(number);
            }
            Err(error) => {
                let failure = format!("a host cannot start: {error}");
                self.kernel.lock().fail_with(failure);
            }
        }
    }

    /// A fault that keeps a host down begins.
    pub(crate) fn take_down(&self, number: usize, how: Down) {
        let mut kernel = self.kernel.lock();
        let process = &mut kernel.hosts[number].process;
        process.down += 1;
        let is_up = process.down == 1;
        drop(kernel);
        if is_up {
            self.stop(number, how);
        }
    }

    /// Ends a host at once: its connections are gone, and its tasks are dropped.
    pub(super) fn stop(&self, number: usize, how: Down) {
        let mut kernel = self.kernel.lock();
        kernel.break_off(number, how == Down::Killed);
        kernel.forget_datagrams(number);
        kernel.ports.give_back_all(number);
        for file in kernel.files.of_host(number) {
            kernel.notify_waiters(file);
        }
        let Kernel { hosts, random, .. } = &mut *kernel;
        let host = &mut hosts[number];
        if how == Down::Crashed {
            host.disk.crash(random);
        }
        host.is_up = false;
        let caller = Caller {
            host: number,
            boot: host.boot,
        };
        let runtime = host.process.runtime.take();
        let workers = std::mem::take(&mut host.process.workers);
        if let Some(recorder) = &kernel.recorder {
            recorder.stop(number, how);
        }
        drop(kernel);
        context::as_host(caller, self.clocks(caller.host), || {
            drop(workers);
            drop(runtime);
        });
    }

    /// Stops or continues a host. What is sent to it waits meanwhile.
    pub(crate) fn pause(&self, number: usize, begins: bool) {
        let mut kernel = self.kernel.lock();
        let process = &mut kernel.hosts[number].process;
        match begins {
            true => process.paused += 1,
            false => process.paused -= 1,
        }
        kernel.make_ready(number);
    }

    /// Steps the workers of a host, in an order of the seed, until it has nothing to do.
    pub(super) fn run_host<'a>(
        &'a self,
        mut kernel: MutexGuard<'a, Kernel>,
        number: usize,
    ) -> MutexGuard<'a, Kernel> {
        let caller = Caller {
            host: number,
            boot: kernel.hosts[number].boot,
        };
        for _ in 0..MAX_ROUNDS {
            let Some(mut chosen) = kernel.choose_worker(caller, self.start) else {
                return kernel;
            };
            let clocks = kernel.clocks(number);
            if kernel.recorder.is_some() {
                recording::enter_worker();
            }
            drop(kernel);
            let worker = &mut chosen.worker;
            let was_parked = chosen.unused.is_some() && worker.is_parked();
            let stepped = context::as_host(caller, clocks, || worker.step(chosen.steps));
            // It may have blocked meanwhile, and the host may have crashed.
            kernel = self.kernel.lock();
            if kernel.recorder.is_some() {
                recording::leave_worker();
            }
            let is_up = kernel.is_alive(caller);
            let process = &mut kernel.hosts[number].process;
            if chosen.unused.is_some() && is_up && (was_parked || stepped == StepOutcome::Parked) {
                process.poll_ends = process.poll_ends.or(chosen.unused);
            }
            if is_up && stepped != StepOutcome::Ended {
                process.workers[chosen.slot] = Some(chosen.worker);
            } else {
                drop(kernel);
                context::as_host(caller, self.clocks(caller.host), || drop(chosen));
                kernel = self.kernel.lock();
            }
        }
        // Its tasks may wait by yielding: the others run, and the time moves.
        kernel.push_in(YIELD, Event::Wake(number));
        kernel
    }

    /// Has the monitor of a host check its workers while one of them blocks.
    pub(super) fn check(&self, number: usize) {
        let kernel = self.kernel.lock();
        let host = &kernel.hosts[number];
        let caller = Caller {
            host: number,
            boot: host.boot,
        };
        let (now, runtime) = (kernel.now, host.process.runtime.clone());
        let clocks = kernel.clocks(number);
        drop(kernel);
        let Some(runtime) = runtime else { return };
        let checked = context::as_host(caller, clocks, || {
            // It may be the last reference, if the host crashes meanwhile.
            let runtime = runtime;
            runtime.check_workers(Duration::from_nanos(now))
        });
        let mut kernel = self.kernel.lock();
        kernel.hosts[number].process.is_check_scheduled = checked.is_active;
        if checked.is_active {
            kernel.push_in(nanos(checked.next), Event::Check(number));
        }
    }

    /// Records that a fault begins or ends.
    pub(crate) fn record_fault(&self, name: &str, begins: bool) {
        if let Some(recorder) = &self.kernel.lock().recorder {
            recorder.fault(name, begins);
        }
    }

    /// Adds a worker that serves while another one is blocked.
    fn add_worker(&self, caller: Caller, worker: SteppedWorker) {
        let mut kernel = self.kernel.lock();
        if kernel.is_alive(caller) {
            kernel.hosts[caller.host].process.workers.push(Some(worker));
            kernel.make_ready(caller.host);
        } else {
            drop(kernel);
            context::as_host(caller, self.clocks(caller.host), || drop(worker));
        }
    }
}

/// A worker that is to be stepped.
struct Chosen {
    slot: usize,
    worker: SteppedWorker,
    steps: usize,
    /// The time of a slow CPU that a poll was to take, for another one if the worker polls no task.
    unused: Option<u64>,
}

impl Kernel {
    /// Takes a worker that has something to do, by the seed. If there is none, the host's next
    /// timer wakes it.
    fn choose_worker(&mut self, caller: Caller, start: Instant) -> Option<Chosen> {
        let number = caller.host;
        let now = self.now;
        let host = &mut self.hosts[number];
        let process = &mut host.process;
        if process.paused > 0 || host.boot != caller.boot {
            return None;
        }
        let runtime = process.runtime.as_ref()?;
        let next_deadline = || {
            let deadline = runtime.next_deadline()?;
            Some(host.clock.until(nanos(deadline - start)))
        };
        if process.wake_at <= now {
            process.wake_at = u64::MAX;
            host.has_events |= next_deadline().is_some_and(|at| at <= now);
        }
        let (slot, count) = loop {
            let (mut slot, mut count) = (None, 0);
            for (at, worker) in process.workers.iter().enumerate() {
                let Some(worker) = worker else { continue };
                // Not asked if there is no need: it is far away in the memory.
                let is_runnable = match host.may_be_unparked || !worker.is_parked() {
                    true => worker.is_runnable(host.has_events),
                    false => host.has_events && worker.is_in_driver(),
                };
                if is_runnable {
                    count += 1;
                    if count == 1 || self.random.below(count) == 0 {
                        slot = Some(at);
                    }
                }
            }
            if let Some(slot) = slot {
                break (slot, count);
            }
            host.may_be_unparked = false;
            match next_deadline() {
                // Due already. If no worker is in the driver, the monitor has one take it.
                Some(at) if at <= now && !host.has_events => host.has_events = true,
                Some(at) if at > now && at < process.wake_at => {
                    process.wake_at = at;
                    self.push_at(at, Event::Wake(number));
                    return None;
                }
                _ => return None,
            }
        };
        if process.slow_cpu > 0 && !process.may_step(slot, now) {
            self.compute(number);
            return None;
        }
        let worker = process.workers[slot].take()?;
        if worker.is_in_driver() {
            host.has_events = false;
        }
        let mut steps = if count == 1 { MAX_STEPS_ALONE } else { 1 };
        let mut unused = None;
        if process.slow_cpu > 0 {
            (steps, unused) = (1, process.poll_ends.take());
        }
        self.record(Record::Step {
            host: number,
            worker: slot,
        });
        Some(Chosen {
            slot,
            worker,
            steps,
            unused,
        })
    }

    /// A thread of a host is about to block: it may be one that runs a worker.
    pub(super) fn begin_checks(&mut self, number: usize) {
        let process = &mut self.hosts[number].process;
        if process.runtime.is_some() && !std::mem::replace(&mut process.is_check_scheduled, true) {
            self.push_in(0, Event::Check(number));
        }
    }
}

/// What the runtime of a host asks for.
struct HostStepper {
    engine: Weak<Engine>,
    caller: Caller,
    recorder: Option<Arc<Recorder>>,
}

impl HostStepper {
    fn host_observer(&self) -> Option<Arc<HostObserver>> {
        let recorder = self.recorder.clone()?;
        let host = self.caller.host;
        Some(Arc::new(HostObserver { recorder, host }))
    }
}

impl Stepper for HostStepper {
    fn unparked(&self) {
        if let Some(engine) = self.engine.upgrade() {
            context::as_kernel(|| {
                let mut kernel = engine.kernel.lock();
                kernel.hosts[self.caller.host].may_be_unparked = true;
                kernel.make_ready(self.caller.host);
            });
        }
    }

    fn add_worker(&self, worker: SteppedWorker) {
        if let Some(engine) = self.engine.upgrade() {
            context::as_kernel(|| engine.add_worker(self.caller, worker));
        }
    }

    fn observer(&self) -> Option<Arc<dyn Observer>> {
        Some(self.host_observer()?)
    }

    fn job_observer(&self) -> Option<Arc<dyn JobObserver>> {
        Some(self.host_observer()?)
    }
}

/// Runs a future, and reports its result or its panic.
fn watched(
    mut main: Main,
    report: impl FnOnce(Result<(), String>) + Send + 'static,
) -> impl Future<Output = ()> + Send {
    let mut report = Some(report);
    std::future::poll_fn(move |cx| {
        let poll = AssertUnwindSafe(|| main.as_mut().poll(cx));
        let result = match std::panic::catch_unwind(poll) {
            Ok(std::task::Poll::Pending) => return std::task::Poll::Pending,
            Ok(std::task::Poll::Ready(result)) => result,
            Err(payload) => Err(format!("panicked: {}", text_of(&*payload))),
        };
        if let Some(report) = report.take() {
            report(result);
        }
        std::task::Poll::Ready(())
    })
}
