//! Which functions belong to the application.

use std::path::Path;

/// Parts of the paths of files that belong to libraries: of the registry, of repositories, of
/// `cargo vendor`, and of the standard library, as it is built and as rustup installs it.
const LIBRARY_PATHS: [&str; 6] = [
    "/registry/src/",
    "/git/checkouts/",
    "/vendor/",
    "/cargo-vendor-dir/",
    "/rustc/",
    "/rustlib/src/",
];

/// Crates that are no part of an application, in alphabetical order. They count if a program has no
/// line tables; those of Raddle always, since its sources may be anywhere.
const LIBRARIES: [&str; 77] = [
    "actix_http",
    "actix_rt",
    "actix_service",
    "actix_web",
    "alloc",
    "async_compat",
    "async_executor",
    "async_global_executor",
    "async_io",
    "async_std",
    "async_task",
    "axum",
    "axum_core",
    "axum_extra",
    "axum_server",
    "backtrace",
    "bytes",
    "core",
    "crossbeam_channel",
    "crossbeam_utils",
    "deadpool",
    "diesel",
    "event_listener",
    "flume",
    "futures",
    "futures_channel",
    "futures_core",
    "futures_executor",
    "futures_lite",
    "futures_util",
    "h2",
    "h3",
    "hashbrown",
    "http",
    "http_body",
    "http_body_util",
    "httparse",
    "hyper",
    "hyper_rustls",
    "hyper_util",
    "lapin",
    "mio",
    "once_cell",
    "parking_lot",
    "parking_lot_core",
    "pin_project",
    "poem",
    "prost",
    "quinn",
    "rayon",
    "rayon_core",
    "rdkafka",
    "redis",
    "reqwest",
    "rocket",
    "rustls",
    "salvo",
    "serde",
    "serde_json",
    "smol",
    "socket2",
    "sqlx_core",
    "std",
    "tokio",
    "tokio_postgres",
    "tokio_rustls",
    "tokio_stream",
    "tokio_util",
    "tonic",
    "tower",
    "tower_http",
    "tower_layer",
    "tower_service",
    "tracing",
    "tracing_core",
    "tracing_futures",
    "warp",
];

/// Raddle's crates, without `raddle_`.
const RADDLE: [&str; 23] = [
    "bare",
    "blocking",
    "console",
    "dump",
    "fs",
    "hyper",
    "io",
    "leaf",
    "macros",
    "net",
    "primitives",
    "process",
    "queue",
    "reactor",
    "recording",
    "sched",
    "sim",
    "sync",
    "task",
    "testing",
    "timer",
    "tokio",
    "watchdog",
];

/// Returns whether a function belongs to the application.
///
/// `function` is a path as the compiler mangles it: `crate::module::function`, or
/// `<Type as Trait>::method`, whose type is a parameter such as `F` or, with the mangling `v0`, the
/// one that it stands for.
pub(super) fn owns(function: &str, file: Option<&Path>) -> bool {
    let Some(owner) = owner(function) else {
        // A function without a path: of C, or with a name of its own.
        let mut rust = file
            .into_iter()
            .filter(|file| file.extension() == Some("rs".as_ref()));
        return rust.any(|file| !is_library_path(file)) && !function.starts_with("__rust");
    };
    !is_library(owner) && !file.is_some_and(is_library_path)
}

/// Returns whether a function belongs to a library other than the standard library and Raddle.
pub(super) fn is_of_library(function: &str) -> bool {
    let is_std = |owner: &str| ["std", "core", "alloc"].contains(&owner);
    owner(function).is_some_and(|owner| !is_std(owner) && !is_raddle(owner))
}

fn is_library_path(file: &Path) -> bool {
    let text = file.to_string_lossy();
    LIBRARY_PATHS.iter().any(|part| text.contains(part)) || is_raddle_path(file)
}

/// Returns whether a file is a source of Raddle, wherever its repository is.
fn is_raddle_path(file: &Path) -> bool {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let below = crates.and_then(|crates| file.strip_prefix(crates).ok());
    below.is_some_and(|below| below.iter().nth(1).is_some_and(|part| part == "src"))
}

fn is_library(name: &str) -> bool {
    is_raddle(name) || LIBRARIES.binary_search(&name).is_ok()
}

fn is_raddle(name: &str) -> bool {
    match name.strip_prefix("raddle") {
        Some("") => true,
        Some(rest) => rest
            .strip_prefix('_')
            .is_some_and(|layer| RADDLE.binary_search(&layer).is_ok()),
        None => false,
    }
}

/// Returns the crate that defines a function, or `None` if the name has no path.
fn owner(function: &str) -> Option<&str> {
    let Some(inner) = function.strip_prefix('<') else {
        return crate_of(function);
    };
    let (own, of) = split_implementation(inner);
    let Some(of) = of else {
        // `<Type>::method`
        return crate_of(own);
    };
    // `<Type as Trait>::method`: an implementation is in the crate of the type or of the trait. A
    // library implements its traits for each function, closure or parameter.
    let of = crate_of(of);
    match crate_of(own) {
        Some(own_crate) if !is_library(own_crate) && names_type(own) => Some(own_crate),
        _ if of.is_some_and(|of| !is_library(of)) => of,
        Some(own_crate) if is_library(own_crate) => Some(own_crate),
        _ => of,
    }
}

/// Splits the text after `<` into the type and the trait.
fn split_implementation(inner: &str) -> (&str, Option<&str>) {
    let mut depth = 0_usize;
    let mut last = ' ';
    let mut separator = None;
    for (index, character) in inner.char_indices() {
        match character {
            '<' | '(' | '[' => depth += 1,
            // Of an arrow, as in `fn() -> T`.
            '>' if last == '-' => {}
            '>' if depth == 0 => {
                let own = separator.unwrap_or(index);
                let of = separator.map(|separator| &inner[separator + " as ".len()..index]);
                return (&inner[..own], of);
            }
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && separator.is_none() && inner[index..].starts_with(" as ") => {
                separator = Some(index);
            }
            _ => {}
        }
        last = character;
    }
    (inner, None)
}

/// Returns the first segment of a path, or `None` for a single name.
fn crate_of(path: &str) -> Option<&str> {
    let path = unwrap_type(path);
    let end = path.find(|c: char| c != '_' && !c.is_alphanumeric())?;
    path[end..]
        .starts_with("::")
        .then_some(&path[..end])
        .filter(|name| !name.is_empty())
}

/// Removes what stands before the path of a type.
fn unwrap_type(mut path: &str) -> &str {
    const BEFORE: [&str; 9] = ["&", "*", "(", "[", "<", "mut ", "const ", "dyn ", "impl "];
    while let Some(rest) = BEFORE.iter().find_map(|before| path.strip_prefix(before)) {
        path = rest;
    }
    path
}

/// Returns whether a path is that of a type, not of a function or a closure.
fn names_type(path: &str) -> bool {
    let path = unwrap_type(path);
    let end = path.find(['<', ' ']).unwrap_or(path.len());
    let last = path[..end].trim_end_matches("::").rsplit("::").next();
    last.is_some_and(|name| name.starts_with(char::is_uppercase))
}

#[cfg(test)]
mod tests;
