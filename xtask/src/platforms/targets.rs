//! The foreign targets: what is checked for each, and how its programs run on this machine.

use super::runner::Runner;

/// One foreign target.
pub(super) struct Target {
    pub(super) name: &'static str,
    pub(super) scope: Scope,
    /// How its tests run on this machine, if they do.
    pub(super) run: Option<Run>,
}

/// What is checked for a target.
#[derive(Clone, Copy)]
pub(super) struct Scope {
    /// The packages, as arguments of `cargo check`.
    pub(super) packages: &'static str,
    /// The parts of the standard library that cargo builds.
    pub(super) std: &'static str,
    /// Features that the platform lacks: using one is an error that names the feature and the
    /// package.
    pub(super) lacks: &'static [&'static str],
    /// The package that has these features.
    pub(super) of: &'static str,
}

/// How programs of a foreign target are linked and started.
pub(super) struct Run {
    pub(super) linker: &'static str,
    pub(super) by: Runner,
    /// Debian's packages with both.
    pub(super) packages: &'static [&'static str],
}

/// All layers and the facade, with tests and examples.
const ALL: Scope = Scope {
    packages: "--all-targets",
    std: "std",
    lacks: &[],
    of: "",
};
/// The facade, and with it the layers, without tests.
const FACADE: Scope = Scope {
    packages: "-p raddle",
    ..ALL
};
/// What CI checks of them.
const ALL_FEATURES: Scope = Scope {
    packages: "-p raddle --all-features",
    ..ALL
};
/// The parts of the facade that need neither threads nor descriptors.
const WEB: Scope = Scope {
    packages: "-p raddle --no-default-features --features io-util,macros,rt,sync,test-util,time",
    std: "std",
    // `crates/raddle/src/platform.rs` has the same list.
    lacks: &[
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
    of: "raddle",
};
/// What needs no operating system.
const BARE: Scope = Scope {
    packages: "-p raddle-bare --no-default-features --features alloc",
    std: "core,alloc",
    lacks: &["std"],
    of: "raddle-bare",
};

/// What CI checks. Each other target differs
/// from one of these, from [`TESTED_BY_CI`] or from the developer's machine in no `cfg` of the
/// crates.
pub(super) const CHECKED_BY_CI: [(&[&str], Scope); 3] = [
    (
        &[
            "aarch64-unknown-linux-gnu",
            "armv5te-unknown-linux-gnueabi",
            "aarch64-apple-darwin",
            "x86_64-pc-windows-gnu",
            "x86_64-unknown-freebsd",
            "x86_64-unknown-illumos",
        ],
        ALL_FEATURES,
    ),
    (&["wasm32-unknown-unknown"], WEB),
    (&["thumbv6m-none-eabi"], BARE),
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

/// A target whose tests do not run here.
const fn checked(name: &'static str, scope: Scope) -> Target {
    Target {
        name,
        scope,
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
    Target {
        name,
        scope: ALL,
        run: Some(Run {
            linker,
            by,
            packages,
        }),
    }
}

#[rustfmt::skip]
pub(super) const TARGETS: [Target; 13] = [
    tested("i686-unknown-linux-gnu", Runner::Native, "i686-linux-gnu-gcc", &["gcc-i686-linux-gnu", "libc6-dev-i386-cross"]),
    tested("armv7-unknown-linux-gnueabihf", Runner::Qemu("arm"), "arm-linux-gnueabihf-gcc", &["gcc-arm-linux-gnueabihf", "libc6-dev-armhf-cross", "qemu-user", "qemu-user-binfmt"]),
    tested("aarch64-unknown-linux-gnu", Runner::Qemu("aarch64"), "aarch64-linux-gnu-gcc", &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user", "qemu-user-binfmt"]),
    // A target without 64-bit atomics.
    checked("armv5te-unknown-linux-gnueabi", FACADE),
    checked("aarch64-apple-darwin", ALL),
    checked("x86_64-apple-darwin", ALL),
    tested("x86_64-pc-windows-gnu", Runner::Wine, "x86_64-w64-mingw32-gcc", &["gcc-mingw-w64-x86-64-posix", "wine64"]),
    checked("x86_64-unknown-freebsd", ALL),
    checked("x86_64-unknown-illumos", ALL),
    checked("wasm32-unknown-unknown", WEB),
    checked("wasm32-wasip1", WEB),
    checked("thumbv7em-none-eabihf", BARE),
    checked("thumbv6m-none-eabi", BARE),
];
