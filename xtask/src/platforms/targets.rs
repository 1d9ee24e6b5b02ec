//! The foreign targets: what is checked for each, and how its programs run here.

use super::runner::Runner;

/// One foreign target.
pub(super) struct Target {
    pub(super) name: &'static str,
    /// The parts of the standard library that cargo builds for it.
    pub(super) std: &'static str,
    /// What is checked, as arguments of `cargo check`.
    pub(super) scope: &'static [&'static str],
    /// Features that do not exist there.
    pub(super) lacks: Option<Lacks>,
    /// How its tests run here, if they do.
    pub(super) run: Option<Run>,
}

/// Features of a package that a platform does not have: each is an error that names both.
pub(super) struct Lacks {
    pub(super) package: &'static str,
    pub(super) features: &'static [&'static str],
    /// The platform as the errors name it.
    pub(super) platform: &'static str,
}

/// How programs of a foreign target are linked and started.
pub(super) struct Run {
    pub(super) linker: &'static str,
    pub(super) by: Runner,
    /// Debian's packages of the linker.
    pub(super) packages: &'static [&'static str],
    /// Linked in, so that programs find no library of this platform.
    pub(super) is_static: bool,
}

/// Everything that the layers and the facade have, with tests and examples.
const ALL: &[&str] = &["--all-targets"];
/// The facade and so the layers, without tests.
const FACADE: &[&str] = &["-p", "raddle"];
/// What of the facade needs neither threads nor descriptors.
const WITHOUT_THREADS: &[&str] = &[
    "-p",
    "raddle",
    "--no-default-features",
    "--features",
    "io-util,macros,rt,sync,test-util,time",
];
const BARE: &[&str] = &[
    "-p",
    "raddle-bare",
    "--no-default-features",
    "--features",
    "alloc",
];

/// What the short form checks for a target: libraries only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Short {
    /// The facade with all of its features, and so all layers.
    Facade,
    WithoutThreads,
    Bare,
}

impl Short {
    /// Names what is checked.
    pub(super) fn packages(self) -> &'static str {
        match self {
            Self::Facade => "raddle",
            Self::WithoutThreads => "raddle for WebAssembly",
            Self::Bare => "raddle-bare",
        }
    }

    /// The arguments of `cargo check`.
    pub(super) fn args(self) -> &'static [&'static str] {
        match self {
            Self::Facade => &["-p", "raddle", "--all-features"],
            Self::WithoutThreads => WITHOUT_THREADS,
            Self::Bare => BARE,
        }
    }
}

impl Target {
    /// What the short form checks for it. Targets of one scope have the same `std`.
    pub(super) fn short(&self) -> Short {
        if self.scope == WITHOUT_THREADS {
            Short::WithoutThreads
        } else if self.scope == BARE {
            Short::Bare
        } else {
            Short::Facade
        }
    }
}

/// The target on which CI runs tests, and the packages: the layers with the most that depends on
/// the size of a word. Its programs need no emulator, and 32 bits are farther from the developer's
/// machine than another instruction set of 64.
pub(super) const TESTED_BY_CI: (&str, &[&str]) = (
    "i686-unknown-linux-gnu",
    &[
        "raddle-queue",
        "raddle-task",
        "raddle-reactor",
        "raddle-sync",
    ],
);

const STD: &str = "std,panic_abort";
const CORE: &str = "core,alloc";

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

pub(super) const TARGETS: [Target; 13] = [
    Target {
        name: "i686-unknown-linux-gnu",
        std: STD,
        scope: ALL,
        lacks: None,
        run: Some(Run {
            linker: "i686-linux-gnu-gcc",
            by: Runner::Native,
            packages: &["gcc-i686-linux-gnu", "libc6-dev-i386-cross"],
            is_static: true,
        }),
    },
    Target {
        name: "armv7-unknown-linux-gnueabihf",
        std: STD,
        scope: ALL,
        lacks: None,
        run: Some(Run {
            linker: "arm-linux-gnueabihf-gcc",
            by: Runner::Qemu("arm"),
            packages: &["gcc-arm-linux-gnueabihf", "libc6-dev-armhf-cross"],
            is_static: true,
        }),
    },
    Target {
        name: "aarch64-unknown-linux-gnu",
        std: STD,
        scope: ALL,
        lacks: None,
        run: Some(Run {
            linker: "aarch64-linux-gnu-gcc",
            by: Runner::Qemu("aarch64"),
            packages: &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
            is_static: true,
        }),
    },
    // Without 64-bit atomics.
    Target {
        name: "armv5te-unknown-linux-gnueabi",
        std: STD,
        scope: FACADE,
        lacks: None,
        run: None,
    },
    Target {
        name: "aarch64-apple-darwin",
        std: STD,
        scope: ALL,
        lacks: None,
        run: None,
    },
    Target {
        name: "x86_64-apple-darwin",
        std: STD,
        scope: ALL,
        lacks: None,
        run: None,
    },
    Target {
        name: "x86_64-pc-windows-gnu",
        std: STD,
        scope: ALL,
        lacks: None,
        run: Some(Run {
            linker: "x86_64-w64-mingw32-gcc",
            by: Runner::Wine,
            packages: &["gcc-mingw-w64-x86-64-posix"],
            is_static: false,
        }),
    },
    Target {
        name: "x86_64-unknown-freebsd",
        std: STD,
        scope: ALL,
        lacks: None,
        run: None,
    },
    Target {
        name: "x86_64-unknown-illumos",
        std: STD,
        scope: ALL,
        lacks: None,
        run: None,
    },
    Target {
        name: "wasm32-unknown-unknown",
        std: STD,
        scope: WITHOUT_THREADS,
        lacks: NO_THREADS,
        run: None,
    },
    Target {
        name: "wasm32-wasip1",
        std: STD,
        scope: WITHOUT_THREADS,
        lacks: NO_THREADS,
        run: None,
    },
    Target {
        name: "thumbv7em-none-eabihf",
        std: CORE,
        scope: BARE,
        lacks: NO_STD,
        run: None,
    },
    Target {
        name: "thumbv6m-none-eabi",
        std: CORE,
        scope: BARE,
        lacks: NO_STD,
        run: None,
    },
];
