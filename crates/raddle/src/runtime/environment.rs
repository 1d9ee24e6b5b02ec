//! Tools that environment variables select, for a program that does not select them itself.
//!
//! A mistake in a variable must not stop a service: it is printed, and the program runs without the
//! tool.

mod duration;

use std::ffi::OsString;
use std::io;
use std::sync::{Arc, Once};

use crate::runtime::tools::{self, Running, Selected, Start, Tools};
use crate::runtime::{Builder, Handle, RuntimeFlavor};

/// The tool of a variable and its builder, or what is expected.
type Read = Result<Option<fn(&mut Builder, &str)>, &'static str>;

struct Variable {
    name: &'static str,
    /// The feature that has the tool, and whether it is compiled in.
    feature: &'static str,
    is_compiled: bool,
    read: fn(&str) -> Read,
    /// A program may build many runtimes: only the first warns.
    has_warned: Once,
}

const fn variable(
    name: &'static str,
    feature: &'static str,
    is_compiled: bool,
    read: fn(&str) -> Read,
) -> Variable {
    Variable {
        name,
        feature,
        is_compiled,
        read,
        has_warned: Once::new(),
    }
}

/// The watchdog comes before the console, which starts one if there is none.
static VARIABLES: [Variable; 5] = [
    variable(
        "RADDLE_WATCHDOG",
        "watchdog",
        cfg!(feature = "watchdog"),
        read_watchdog,
    ),
    variable(
        "RADDLE_CONSOLE",
        "console",
        cfg!(feature = "console"),
        read_console,
    ),
    variable(
        "RADDLE_METRICS",
        "metrics-server",
        cfg!(feature = "metrics-server"),
        read_metrics,
    ),
    variable(
        "RADDLE_RECORD",
        "flight-recorder",
        cfg!(feature = "flight-recorder"),
        read_record,
    ),
    variable(
        "RADDLE_DUMP_ON_SIGQUIT",
        "task-dumps",
        cfg!(feature = "task-dumps"),
        read_dump,
    ),
];

/// Returns the tools of a builder and those of the environment. If both have one, that of the
/// builder is used.
pub(crate) fn select(selected: &Selected) -> Selected {
    select_from(selected, |name| std::env::var_os(name))
}

fn select_from(selected: &Selected, value: impl Fn(&str) -> Option<OsString>) -> Selected {
    let mut builder = Builder::new(RuntimeFlavor::CurrentThread);
    for variable in &VARIABLES {
        if let Some(value) = value(variable.name).filter(|value| !value.is_empty()) {
            variable.apply(&mut builder, &value);
        }
    }
    let mut all = selected.clone();
    for (tool, start) in builder.tools {
        all.entry(tool).or_insert_with(|| without_errors(start));
    }
    all
}

impl Variable {
    fn apply(&self, builder: &mut Builder, value: &OsString) {
        let Self { name, feature, .. } = self;
        if !self.is_compiled {
            return self.warn_once(&format!(
                "{name} is set, but the feature `{feature}` of raddle is not compiled in"
            ));
        }
        let read = match value.to_str() {
            Some(text) => (self.read)(text).map(|select| (select, text)),
            None => Err("text in UTF-8"),
        };
        match read {
            Ok((Some(select), text)) => select(builder, text),
            Ok((None, _)) => {}
            Err(expected) => self.warn_once(&format!(
                "{name} is {value:?}, and has no effect; set it to {expected}"
            )),
        }
    }

    fn warn_once(&self, text: &str) {
        self.has_warned.call_once(|| tools::warn(text));
    }
}

/// Makes an error of a tool a line on standard error.
fn without_errors(start: Start) -> Start {
    Arc::new(move |tools: &mut Tools| {
        let first = tools.running.len();
        if let Err(error) = start(tools) {
            warn(&error);
        }
        let started = tools.running.split_off(first);
        let started = started.into_iter().map(WithoutErrors);
        tools
            .running
            .extend(started.map(|tool| -> Box<dyn Running> { Box::new(tool) }));
        Ok(())
    })
}

fn warn(error: &io::Error) {
    tools::warn(&format!(
        "a tool that an environment variable selects does not start: {error}"
    ));
}

/// A tool whose error does not end the runtime.
struct WithoutErrors(Box<dyn Running>);

impl Running for WithoutErrors {
    fn serve(&mut self, handle: &Handle) -> io::Result<()> {
        if let Err(error) = self.0.serve(handle) {
            warn(&error);
        }
        Ok(())
    }

    fn stop(&mut self) {
        self.0.stop();
    }

    fn report(&self, stopped: crate::runtime::runtime::Stopped) {
        self.0.report(stopped);
    }
}

fn read_watchdog(text: &str) -> Read {
    match duration::parse(text) {
        Some(threshold) if !threshold.is_zero() => Ok(Some(select_watchdog)),
        _ => Err("a duration such as 100ms, 2s or 1m"),
    }
}

fn read_console(text: &str) -> Read {
    match text.parse::<std::net::SocketAddr>() {
        Ok(address) if address.ip().is_loopback() => Ok(Some(select_console)),
        _ => Err("a loopback address with a port, such as 127.0.0.1:6670"),
    }
}

fn read_metrics(text: &str) -> Read {
    match text.parse::<std::net::SocketAddr>() {
        Ok(_) => Ok(Some(select_metrics)),
        Err(_) => Err("an address with a port, such as 0.0.0.0:9469"),
    }
}

fn read_record(_: &str) -> Read {
    Ok(Some(select_record))
}

fn read_dump(text: &str) -> Read {
    match text {
        "1" => Ok(Some(select_dump)),
        "0" => Ok(None),
        _ => Err("1 or 0"),
    }
}

#[cfg(feature = "watchdog")]
fn select_watchdog(builder: &mut Builder, text: &str) {
    if let Some(threshold) = duration::parse(text) {
        builder.watchdog(threshold, raddle_watchdog::warn());
    }
}

#[cfg(not(feature = "watchdog"))]
fn select_watchdog(_: &mut Builder, _: &str) {}

#[cfg(feature = "console")]
fn select_console(builder: &mut Builder, text: &str) {
    let mut options = raddle_console::ConsoleOptions::new(text);
    let url_file = std::env::var_os("RADDLE_CONSOLE_URL_FILE").filter(|file| !file.is_empty());
    options.url_file = url_file.map(Into::into);
    builder.console_options(options);
}

#[cfg(not(feature = "console"))]
fn select_console(_: &mut Builder, _: &str) {}

#[cfg(feature = "metrics-server")]
fn select_metrics(builder: &mut Builder, text: &str) {
    builder.serve_metrics(text);
}

#[cfg(not(feature = "metrics-server"))]
fn select_metrics(_: &mut Builder, _: &str) {}

#[cfg(feature = "flight-recorder")]
fn select_record(builder: &mut Builder, text: &str) {
    crate::runtime::flight_recorder::select_archive(builder, text);
}

#[cfg(not(feature = "flight-recorder"))]
fn select_record(_: &mut Builder, _: &str) {}

#[cfg(all(feature = "task-dumps", unix))]
fn select_dump(builder: &mut Builder, _: &str) {
    builder.dump_tasks_on_sigquit();
}

#[cfg(not(all(feature = "task-dumps", unix)))]
fn select_dump(_: &mut Builder, _: &str) {}

#[cfg(test)]
mod tests;
