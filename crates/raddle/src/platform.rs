//! Compile errors for features that the platform does not support. Each names both.

/// Emits the errors for WebAssembly, which has no threads, and no descriptors that Raddle's
/// selectors support. Tokio supports the same features there.
macro_rules! not_on_webassembly {
    ($($feature:literal)+) => {$(
        #[cfg(all(target_family = "wasm", feature = $feature))]
        compile_error!(concat!(
            "the feature `",
            $feature,
            "` of raddle is not available on WebAssembly; those that are: io-util, macros, rt, \
             sync, test-util, time, flight-recorder, futures-io, task-dumps, tracing",
        ));
    )+};
}

not_on_webassembly! {
    "console" "fs" "io-std" "mio" "net" "process" "rt-multi-thread" "signal" "signal-hook-registry"
    "socket2" "watchdog"
}

#[cfg(all(
    not(any(unix, windows)),
    not(target_family = "wasm"),
    any(feature = "process", feature = "signal")
))]
compile_error!(
    "the features `process` and `signal` of raddle are available on Unix and Windows only"
);
