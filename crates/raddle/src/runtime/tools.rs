//! The tools that observe a runtime. Each is a module with its own feature, and has a method of
//! [`Builder`](crate::runtime::Builder) that selects the tool.
#![cfg_attr(
    not(all(
        feature = "console",
        feature = "flight-recorder",
        feature = "task-dumps",
        unix
    )),
    allow(dead_code, reason = "some tools are off")
)]

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use crate::runtime::Handle;
use crate::runtime::observers::Observers;
use crate::runtime::runtime::Stopped;

/// The tools, in the order in which a runtime starts them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tool {
    FlightRecorder,
    TaskDumps,
    Console,
    Watchdog,
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
}

/// Values that the handles of the runtime and other tools look up by type.
#[derive(Default)]
pub(crate) struct Shared(Vec<Box<dyn Any + Send + Sync>>);

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
        let mut tools = Self::default();
        for start in selected.values() {
            start(&mut tools)?;
        }
        Ok(tools)
    }
}

impl Shared {
    pub(crate) fn add(&mut self, value: impl Any + Send + Sync) {
        self.0.push(Box::new(value));
    }

    pub(crate) fn get<T: Any>(&self) -> Option<&T> {
        self.0.iter().find_map(|value| value.downcast_ref())
    }
}
