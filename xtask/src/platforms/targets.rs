//! The foreign targets: what is checked for each, and how its programs run on this machine.

use super::runner::Runner;

/// One foreign target.
pub(super) struct Target {
    pub(super) name: &'static str,
    /// The parts of the standard library that cargo builds for it.
    pub(super) std: &'static str,
    /// The checked packages, as arguments of `cargo check`.
    pub(super) scope: &'static str,
    /// Features that do not exist on it.
    pub(super) lacks: Option<Lacks>,
    /// How its tests run on this machine, if they do.
    pub(super) run: Option<Run>,
}

/// Features of a package that a platform lacks: using one is an error that names the feature and
/// the platform.
pub(super) struct Lacks {
    pub(super) package: &'static str,
    pub(super) features: &'static [&'static str],
    /// The name of the platform in these errors.
    pub(super) platform: &'static str,
}

/// How programs of a foreign target are linked and started.
pub(super) struct Run {
    pub(super) linker: &'static str,
    pub(super) by: Runner,
    /// Debian's packages with the linker.
    pub(super) packages: &'static [&'static str],
}

/// All layers and the facade, with tests and examples.
const ALL: &str = "--all-targets";
/// The facade, and with it the layers, without tests.
const FACADE: &str = "-p raddle";
/// The parts of the facade that need neither threads nor descriptors.
const WITHOUT_THREADS: &str =
    "-p raddle --no-default-features --features io-util,macros,rt,sync,test-util,time";
const BARE: &str = "-p raddle-bare --no-default-features --features alloc";

const STD: &str = "std";
const CORE: &str = "core,alloc";

/// What CI checks, only libraries: targets with one `std`, and a scope. Each other target differs
/// from one of these, from [`TESTED_BY_CI`] or from the developer's machine in no `cfg` of the
/// crates.
pub(super) const CHECKED_BY_CI: [(&[&str], &str, &str); 3] = [
    (
        &[
            "aarch64-unknown-linux-gnu",
            "armv5te-unknown-linux-gnueabi",
            "aarch64-apple-darwin",
            "x86_64-pc-windows-gnu",
            "x86_64-unknown-freebsd",
            "x86_64-unknown-illumos",
        ],
        STD,
        "-p raddle --all-features",
    ),
    (&["wasm32-unknown-unknown"], STD, WITHOUT_THREADS),
    (&["thumbv6m-none-eabi"], CORE, BARE),
];

/// The target on which CI runs tests, and the packages: the layers that depend most on the size of
/// a word. Its programs need no emulator, and 32 bits differ more from the developer's machine than
/// another 64-bit instruction set.
pub(super) const TESTED_BY_CI: (&str, &[&str]) = (
    "i686-unknown-linux-gnu",
    &[
        "raddle-queue",
        "raddle-task",
        "raddle-reactor",
        "raddle-sync",
    ],
);

/// `crates/raddle/src/platform.rs` has the same list.
const NO_THREADS: Option<Lacks> = Some(Lacks {
    package: "raddle",
    features: &[
        "console",
        "fs",
        "io-std",
        "mio",
        "net",
        "process",
        "rt-multi-thread",
        "signal",
        "signal-hook-registry",
        "socket2",
        "watchdog",
    ],
    platform: "WebAssembly",
});
const NO_STD: Option<Lacks> = Some(Lacks {
    package: "raddle-bare",
    features: &["std"],
    platform: "targets without an operating system",
});

/// A target whose tests do not run here.
const fn checked(name: &'static str, scope: &'static str) -> Target {
    Target {
        name,
        std: STD,
        scope,
        lacks: None,
        run: None,
    }
}

/// A target whose tests run here.
const fn tested(
    name: &'static str,
    by: Runner,
    linker: &'static str,
    packages: &'static [&'static str],
) -> Target {
    let run = Some(Run {
        linker,
        by,
        packages,
    });
    Target {
        run,
        ..checked(name, ALL)
    }
}

const fn web(name: &'static str) -> Target {
    Target {
        lacks: NO_THREADS,
        ..checked(name, WITHOUT_THREADS)
    }
}

const fn bare(name: &'static str) -> Target {
    Target {
        std: CORE,
        lacks: NO_STD,
        ..checked(name, BARE)
    }
}

#[rustfmt::skip]
pub(super) const TARGETS: [Target; 13] = [
    tested("i686-unknown-linux-gnu", Runner::Native, "i686-linux-gnu-gcc", &["gcc-i686-linux-gnu", "libc6-dev-i386-cross"]),
    tested("armv7-unknown-linux-gnueabihf", Runner::Qemu("arm"), "arm-linux-gnueabihf-gcc", &["gcc-arm-linux-gnueabihf", "libc6-dev-armhf-cross"]),
    tested("aarch64-unknown-linux-gnu", Runner::Qemu("aarch64"), "aarch64-linux-gnu-gcc", &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"]),
    // A target without 64-bit atomics.
    checked("armv5te-unknown-linux-gnueabi", FACADE),
    checked("aarch64-apple-darwin", ALL),
    checked("x86_64-apple-darwin", ALL),
    tested("x86_64-pc-windows-gnu", Runner::Wine, "x86_64-w64-mingw32-gcc", &["gcc-mingw-w64-x86-64-posix"]),
    checked("x86_64-unknown-freebsd", ALL),
    checked("x86_64-unknown-illumos", ALL),
    web("wasm32-unknown-unknown"),
    web("wasm32-wasip1"),
    bare("thumbv7em-none-eabihf"),
    bare("thumbv6m-none-eabi"),
];
