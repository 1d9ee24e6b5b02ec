//! The code of the pages in `docs`, compiled and run as doc-tests.

/// Makes the code blocks of a page the examples of an item.
macro_rules! page {
    ($item:ident, $path:literal) => {
        #[doc = include_str!($path)]
        struct $item;
    };
}

page!(GettingStarted, "../../../docs/guide/getting-started.md");
page!(Tokio, "../../../docs/guide/tokio.md");
page!(Policy, "../../../docs/guide/policy.md");
page!(Blocking, "../../../docs/guide/blocking.md");
#[cfg(all(feature = "tools", unix))]
page!(Operating, "../../../docs/operating.md");
page!(Shutdown, "../../../docs/guide/shutdown.md");
page!(CancelSafety, "../../../docs/guide/cancel-safety.md");
page!(Testing, "../../../docs/guide/testing.md");
page!(ThreadPerCore, "../../../docs/guide/thread-per-core.md");
page!(Layers, "../../../docs/guide/layers.md");
#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
page!(Simulation, "../../../docs/guide/simulation.md");
page!(Macros, "../../../crates/macros/README.md");
