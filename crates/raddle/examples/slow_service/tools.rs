//! A runtime with a watchdog, task dumps and a flight recorder.

use std::future::Future;
use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use raddle::runtime::Builder;
use raddle::runtime::dump::Dump;
use raddle::runtime::flight_recorder::RecorderOptions;
use raddle::runtime::flight_recorder::recording::Recording;
use raddle::runtime::watchdog::Report;

/// What the tools found.
pub(crate) struct Findings {
    /// The reports of the watchdog.
    pub(crate) slow_polls: Vec<Report>,
    /// The tasks at the end.
    pub(crate) dump: Dump,
    /// What happened until then.
    pub(crate) recording: Recording,
}

/// Runs a service for `time` on a runtime with all tools.
pub(crate) fn observe(
    time: Duration,
    service: impl Future<Output = ()> + Send + 'static,
) -> io::Result<Findings> {
    let (sender, slow_polls) = mpsc::channel();
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        // Spare workers would serve what waits, and hide the faults.
        .max_spare_workers(0)
        .enable_all()
        .watchdog(Duration::from_millis(20), move |report| {
            // Printed later: looking up the names of a stack is slow. The send fails once `observe`
            // has returned and the receiver is gone.
            let _ = sender.send(report.clone());
        })
        .enable_task_dumps()
        .flight_recorder(RecorderOptions::default())
        .build()?;
    runtime.spawn(service);
    thread::sleep(time);
    let missing = || io::Error::other("the builder was asked for it");
    let findings = Findings {
        dump: runtime.handle().dump().map_err(io::Error::other)?,
        recording: runtime
            .handle()
            .flight_recorder()
            .ok_or_else(missing)?
            .snapshot(),
        slow_polls: slow_polls.try_iter().collect(),
    };
    runtime.shutdown_background();
    Ok(findings)
}
