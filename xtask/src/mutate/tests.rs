use std::path::PathBuf;

use super::judge::judges;
use super::*;
use crate::workspace::Dependency;

fn package(name: &str, uses: &[(&str, bool)]) -> Package {
    Package {
        name: name.to_owned(),
        dir: PathBuf::from("crates").join(name),
        dependencies: uses
            .iter()
            .map(|&(name, dev)| Dependency {
                name: name.to_owned(),
                dev,
                local: false,
            })
            .collect(),
        spec: String::new(),
        features: Vec::new(),
    }
}

fn args(only: &str) -> Args {
    Args {
        only: vec![only.to_owned()],
        logic: false,
        list: false,
        own: false,
        shallow: false,
        no_models: false,
        no_tests: false,
        resume: false,
        argued: false,
        known: false,
        minutes: None,
    }
}

#[test]
fn a_mutant_is_shown_to_its_crate_first_and_then_to_those_above() {
    let packages = [
        package("above", &[("queue", false)]),
        package("beside", &[("queue", true), ("task", false)]),
        package("queue", &[]),
    ];
    assert_eq!(judges(&packages, "queue"), ["queue", "above"]);
}

#[test]
fn the_files_of_this_workspace_have_mutants() {
    let root = workspace::root();
    let packages = workspace::packages(&root).unwrap();
    let (files, mutants) = find(&root, &packages, &args("crates/sched/src/idle.rs")).unwrap();
    assert_eq!(files.len(), 1);
    let removed = |mutant: &Mutant| mutant.change == "fence removed";
    assert!(mutants.iter().any(removed));
    assert!(find(&root, &packages, &args("no-such-crate")).is_err());
}

#[test]
fn a_line_of_a_file_may_be_named() {
    let root = workspace::root();
    let packages = workspace::packages(&root).unwrap();
    let found = |only: &str| find(&root, &packages, &args(only));
    let (_, all) = found("crates/sched/src/idle.rs").unwrap();
    let line = all[0].line;
    let (whole, mutants) = found(&format!("crates/sched/src/idle.rs:{line}")).unwrap();
    assert!(whole.is_empty());
    assert!(mutants.len() < all.len() && mutants.iter().all(|mutant| mutant.line == line));
    assert!(found("crates/sched/src/idle.rs:1").is_err());
}

#[test]
fn the_logic_is_shown_to_tests_and_models_unless_one_is_left_out() {
    let stages = |logic, no_tests, no_models| {
        let args = Args {
            logic,
            no_tests,
            no_models,
            ..args("queue")
        };
        args.stages().to_vec()
    };
    let models = [Stage::Shallow, Stage::Full];
    assert_eq!(stages(false, false, false), models);
    assert_eq!(stages(true, true, false), models);
    assert_eq!(stages(true, false, true), [Stage::Tests]);
    assert_eq!(
        stages(true, false, false),
        [Stage::Tests, Stage::Shallow, Stage::Full]
    );
}
