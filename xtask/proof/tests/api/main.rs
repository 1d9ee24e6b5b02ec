//! Compares the traits of Raddle's types and futures with those of Tokio's: Raddle must have each
//! trait that Tokio has.
//!
//! Each list is one source file, which is compiled for both libraries. `cargo xtask api` checks
//! that the lists name every type and every future of Tokio.
#![cfg(all(unix, not(raddle_loom)))]
#![allow(
    clippy::duplicate_mod,
    reason = "each list is compiled for both libraries"
)]

mod on_raddle;
mod on_tokio;
mod parameters;
mod probe;

use probe::{Row, TRAITS};

/// The traits that Tokio's type has and Raddle's deliberately lacks: row, trait and reason.
const NARROWER: &[(&str, &str, &str)] = &[];

/// Compares the libraries row by row.
fn compare(raddle: &[Row], tokio: &[Row]) {
    assert_eq!(raddle.len(), tokio.len());
    assert!(!raddle.is_empty());
    let mut narrower = Vec::new();
    let mut wider = 0;
    for (ours, theirs) in raddle.iter().zip(tokio) {
        assert_eq!(ours.name, theirs.name);
        assert_eq!(ours.has.len(), theirs.has.len());
        for (name, (ours_has, theirs_has)) in TRAITS.iter().zip(ours.has.iter().zip(&theirs.has)) {
            if *theirs_has && !*ours_has {
                let accepted = |&(row, accepted, _): &(&str, &str, &str)| {
                    row == ours.name && accepted == *name
                };
                if !NARROWER.iter().any(accepted) {
                    narrower.push(format!("{}: {name}", ours.name));
                }
            }
            wider += usize::from(*ours_has && !*theirs_has);
        }
    }
    println!("{} rows, {wider} traits more than Tokio", raddle.len());
    assert!(
        narrower.is_empty(),
        "Tokio has these traits, and Raddle lacks them:\n{}",
        narrower.join("\n")
    );
}

#[test]
fn plain_types() {
    compare(&on_raddle::types::plain(), &on_tokio::types::plain());
}

#[test]
fn types_of_sync() {
    compare(&on_raddle::types::sync(), &on_tokio::types::sync());
}

#[test]
fn types_of_tasks_and_time() {
    compare(&on_raddle::types::tasks(), &on_tokio::types::tasks());
}

#[test]
fn types_of_io() {
    compare(&on_raddle::types::io(), &on_tokio::types::io());
}

#[test]
fn futures_of_files() {
    compare(&on_raddle::futures::files(), &on_tokio::futures::files());
}

#[test]
fn futures_of_io() {
    compare(&on_raddle::futures::io(), &on_tokio::futures::io());
}

#[test]
fn futures_of_sockets() {
    compare(
        &on_raddle::futures::sockets(),
        &on_tokio::futures::sockets(),
    );
}

#[test]
fn futures_of_processes() {
    compare(
        &on_raddle::futures::processes(),
        &on_tokio::futures::processes(),
    );
}

#[test]
fn futures_of_sync() {
    compare(&on_raddle::futures::sync(), &on_tokio::futures::sync());
}

#[test]
fn futures_of_tasks_and_time() {
    compare(&on_raddle::futures::tasks(), &on_tokio::futures::tasks());
}

#[test]
fn conversions() {
    compare(
        &on_raddle::conversions::all(),
        &on_tokio::conversions::all(),
    );
}

/// The probes distinguish types with a trait from types without it.
#[test]
fn probes_find_what_is_there_and_only_that() {
    let mut rows = Vec::new();
    probe::types! { rows;
        parameters::All;
        parameters::Bare;
        parameters::OnlySync;
        parameters::OnlySend;
        std::future::Ready<parameters::Neither>;
        std::io::Error;
    }
    let has = |row: usize| -> Vec<&str> {
        let names = TRAITS.iter().zip(&rows[row].has);
        names
            .filter(|(_, has)| **has)
            .map(|(name, _)| *name)
            .collect()
    };
    assert_eq!(TRAITS.len(), rows[0].has.len());
    assert_eq!(has(0).len(), TRAITS.len() - 2);
    assert_eq!(has(1), ["Send", "Sync", "std::panic::RefUnwindSafe"]);
    assert!(!has(2).contains(&"Send") && has(2).contains(&"Sync"));
    assert!(has(3).contains(&"Send") && !has(3).contains(&"Sync"));
    assert!(!has(4).contains(&"Send") && has(4).contains(&"std::future::Future"));
    assert!(has(5).contains(&"std::error::Error") && !has(5).contains(&"Clone"));
}
