//! The tools that observe a runtime. Each is a module with its own feature, and has a method of
//! [`Builder`](crate::runtime::Builder) that selects the tool.
#![cfg_attr(
    not(all(
        feature = "console",
        feature = "tracing-layer",
        feature = "flight-recorder",
        feature = "task-dumps",
        unix
    )),
    allow(dead_code, reason = "some tools are off")
)]

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write as _};
use std::sync::{Arc, OnceLock};

use crate::runtime::Handle;
use crate::runtime::observers::Observers;
use crate::runtime::runtime::Stopped;

/// The tools, in the order in which a runtime starts them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tool {
    FlightRecorder,
    /// Writes what the flight recorder records to files.
    Archive,
    RecordingTriggers,
    TaskDumps,
    DumpOnSigquit,
    Console,
    Metrics,
    Watchdog,
    /// The watchdog of a console, if the program selects no other.
    ConsoleWatchdog,
}

/// Starts a tool for one runtime: adds its parts to those of the other tools.
pub(crate) type Start = Arc<dyn Fn(&mut Tools) -> io::Result<()> + Send + Sync>;

/// The tools that a builder starts for each runtime.
pub(crate) type Selected = BTreeMap<Tool, Start>;

/// The parts of the tools of one runtime.
#[derive(Default)]
pub(crate) struct Tools {
    pub(crate) observers: Observers,
    pub(crate) shared: Shared,
    pub(crate) running: Vec<Box<dyn Running>>,
    /// Whether the scheduler measures times on a sample.
    pub(crate) samples_times: bool,
    selected: Vec<Tool>,
}

/// Values that the handles of the runtime and other tools look up by type.
#[derive(Default)]
pub(crate) struct Shared {
    values: Vec<Box<dyn Any + Send + Sync>>,
    span_listeners: Vec<Box<dyn SpanListener>>,
}

/// A tool that shows the spans of the crate `tracing`. The layer of the spans calls it on the
/// thread where the event happens, while the runtime is current there.
pub(crate) trait SpanListener: Send + Sync {
    /// The thread has entered a span, which has this name and this text.
    fn entered(&self, _name: &'static str, _span: &Arc<str>) {}

    /// The thread has left a span with this name. `present` is its innermost span now.
    fn left(&self, _name: &'static str, _present: Option<&Arc<str>>) {}

    /// A span has ended, on a thread that is in `present`.
    fn closed(&self, _span: &Arc<str>, _present: Option<&Arc<str>>) {}
}

/// A function of the flight recorder that returns its recent events as a file, for the live page.
pub(crate) struct RecordingFile(pub(crate) Box<dyn Fn() -> Option<Vec<u8>> + Send + Sync>);

/// Writes the stacks of what the runtime's threads run. Set by the watchdog, which starts after the
/// tools that use it.
#[derive(Clone, Default)]
pub(crate) struct RunningStacks(pub(crate) Arc<OnceLock<WriteStacks>>);

pub(crate) type WriteStacks = Box<dyn Fn(&mut dyn fmt::Write) -> fmt::Result + Send + Sync>;

/// A tool that ends with its runtime.
pub(crate) trait Running: Send + Sync {
    /// Called when the runtime is complete.
    fn serve(&mut self, _: &Handle) -> io::Result<()> {
        Ok(())
    }

    /// Called when the shutdown no longer waits for workers and blocking threads.
    fn stop(&mut self) {}

    /// Reports a shutdown.
    fn report(&self, _: Stopped) {}
}

impl Tools {
    /// Starts the tools that are selected.
    pub(crate) fn start(selected: &Selected) -> io::Result<Self> {
        let mut tools = Self {
            selected: selected.keys().copied().collect(),
            ..Self::default()
        };
        for start in selected.values() {
            start(&mut tools)?;
        }
        Ok(tools)
    }

    /// Whether a tool was started, or will be.
    pub(crate) fn has(&self, tool: Tool) -> bool {
        self.selected.contains(&tool)
    }

    /// Whether the runtime will have a watchdog.
    pub(crate) fn has_watchdog(&self) -> bool {
        self.has(Tool::Watchdog) || self.has(Tool::ConsoleWatchdog)
    }
}

/// Prints a line about a tool to standard error, so that it is visible without a subscriber of
/// `tracing`.
pub(crate) fn print(text: &str) {
    // Standard error may be closed, which must not end a service.
    let _ = io::stderr().write_all(format!("raddle: {text}\n").as_bytes());
}

/// Like [`print`], for a failure, which is also an event of `tracing`.
pub(crate) fn warn(text: &str) {
    print(text);
    #[cfg(feature = "tracing")]
    tracing::warn!(target: "raddle::runtime", "{text}");
}

impl Shared {
    pub(crate) fn add(&mut self, value: impl Any + Send + Sync) {
        self.values.push(Box::new(value));
    }

    pub(crate) fn get<T: Any>(&self) -> Option<&T> {
        self.iter().next()
    }

    /// Adds a tool that shows spans.
    pub(crate) fn add_span_listener(&mut self, listener: impl SpanListener + 'static) {
        self.span_listeners.push(Box::new(listener));
    }

    pub(crate) fn span_listeners(&self) -> &[Box<dyn SpanListener>] {
        &self.span_listeners
    }

    /// The values of a type, in the order in which they were added.
    pub(crate) fn iter<T: Any>(&self) -> impl Iterator<Item = &T> {
        self.values.iter().filter_map(|value| value.downcast_ref())
    }
}
