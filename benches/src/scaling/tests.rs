use raddle_scaling::{Tally, Word};

use super::*;

fn word(name: &str, scope: Scope, loads: u64, locks: u64) -> Word {
    let mut phases = [Tally::default(); 5];
    phases[Phase::Task as usize].loads = loads;
    phases[Phase::Park as usize].locks = locks;
    Word {
        name: name.to_owned(),
        scope,
        made: 1,
        actors: 2,
        phases,
    }
}

fn counts() -> Counts {
    let run = |workers: usize| Run {
        load: "storm".to_owned(),
        workers,
        seed: 1,
        rounds: 10,
        polls: 100,
        parks: 4,
        steal_attempts: 7,
        words: vec![
            word("closed", Scope::Common, 150, 0),
            word("seldom", Scope::Common, 1, 0),
            word("queue head", Scope::Own, 900, 0),
            word("door", Scope::Common, 0, 2 * workers as u64),
        ],
        ..Run::default()
    };
    Counts {
        runs: vec![run(2), run(256)],
    }
}

#[test]
fn figures_divide_operations_by_tasks_or_parks() {
    let counts = counts();
    let run = &counts.runs[0];
    assert_eq!(run.figure(Figure::CommonLoads), Some(1.51));
    assert_eq!(run.figure(Figure::Locks), Some(0.04));
    assert_eq!(run.figure(Figure::LocksOfAPark), Some(1.0));
    // No attempt was successful.
    assert_eq!(run.figure(Figure::Attempts), None);
}

#[test]
fn a_table_has_loads_and_workers_and_leaves_out_seldom_words() {
    let page = tables(&counts());
    let writes = "### Writes of common words, per task\n\n| | 2 | 256 |\n|---|---:|---:|\n\
                  | storm | 0.040 | 5.12 |\n";
    assert!(page.contains(writes), "{page}");
    assert!(!page.contains("seldom") && !page.contains("queue head"));
    let words = "256 workers\n\n| | storm |\n|---|---:|\n| closed | 1.50 |\n";
    assert!(page.contains(words), "{page}");
}
