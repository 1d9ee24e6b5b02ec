//! Methods whose features are off. A call does not compile, and the error names the feature, as the
//! compiler's own error does for a module, a type or a function.

#![allow(unused_imports, dead_code, reason = "depends on the features")]

use crate::runtime::{Builder, Handle, Runtime, RuntimeMetrics};

/// Defines methods that cannot be called: `Type::name<Arguments>(receiver) -> Output { body }`.
///
/// Because of the lifetime, the compiler checks the bound at a call and not here.
macro_rules! off {
    (
        $feature:literal $module:ident $message:literal
        $($Type:ident::$name:ident<$($Argument:ident),*>($($receiver:tt)*) -> $Output:ty $body:block)+
    ) => {
        #[cfg(not(feature = $feature))]
        mod $module {
            use super::{Builder, Handle, Runtime, RuntimeMetrics};

            #[diagnostic::on_unimplemented(
                message = $message,
                label = $message,
                note = "add it to the features of `raddle`, or of the stand-in `tokio`, in Cargo.toml"
            )]
            pub trait Enabled<'a> {}

            #[derive(Debug)]
            pub struct Feature;

            $(
                impl $Type {
                    #[doc(hidden)]
                    pub fn $name<$($Argument),*>($($receiver)* $(, _: $Argument)*) -> $Output
                    where
                        for<'a> Feature: Enabled<'a>,
                    $body
                }
            )+
        }
    };
}

off! {
    "rt-multi-thread" multi_thread "the feature `rt-multi-thread` is off"
    Builder::new_multi_thread<>() -> Self { Self::new_current_thread() }
    Runtime::new<>() -> std::io::Result<Self> { Builder::new_current_thread().build() }
}

off! {
    "mio" net "the feature `net` is off"
    Builder::enable_io<>(&mut self) -> &mut Self { self }
    Builder::max_io_events_per_tick<A>(&mut self) -> &mut Self { self }
    Builder::max_io_events_per_busy_tick<A>(&mut self) -> &mut Self { self }
    RuntimeMetrics::io_driver_fd_registered_count<>(&self) -> u64 { 0 }
    RuntimeMetrics::io_driver_fd_deregistered_count<>(&self) -> u64 { 0 }
    RuntimeMetrics::io_driver_ready_count<>(&self) -> u64 { 0 }
}

off! {
    "time" time "the feature `time` is off"
    Builder::enable_time<>(&mut self) -> &mut Self { self }
    Builder::timer_resolution<A>(&mut self) -> &mut Self { self }
    Builder::include_suspended_time<A>(&mut self) -> &mut Self { self }
}

off! {
    "test-util" test_util "the feature `test-util` is off"
    Builder::start_paused<A>(&mut self) -> &mut Self { self }
}

off! {
    "console" console "the feature `console` is off"
    Builder::console<A>(&mut self) -> &mut Self { self }
    Builder::console_options<A>(&mut self) -> &mut Self { self }
    Runtime::console_url<>(&self) -> Option<String> { None }
}

off! {
    "metrics-server" metrics_server "the feature `metrics-server` is off"
    Builder::serve_metrics<A>(&mut self) -> &mut Self { self }
    Runtime::metrics_address<>(&self) -> Option<std::net::SocketAddr> { None }
}

off! {
    "watchdog" watchdog "the feature `watchdog` is off"
    Builder::watchdog<A, B>(&mut self) -> &mut Self { self }
    Runtime::shutdown_report<A>(self) -> () { }
}

off! {
    "task-dumps" task_dumps "the feature `task-dumps` is off"
    Builder::enable_task_dumps<>(&mut self) -> &mut Self { self }
    Builder::dump_tasks_on_sigquit<>(&mut self) -> &mut Self { self }
    Handle::dump<>(&self) -> () { }
}

off! {
    "flight-recorder" flight_recorder "the feature `flight-recorder` is off"
    Builder::flight_recorder<A>(&mut self) -> &mut Self { self }
    Builder::flight_recorder_triggers<A>(&mut self) -> &mut Self { self }
    Handle::flight_recorder<>(&self) -> () { }
}

off! {
    "stepped" stepped "the feature `stepped` is off"
    Builder::build_stepped<A>(&mut self) -> () { }
}
