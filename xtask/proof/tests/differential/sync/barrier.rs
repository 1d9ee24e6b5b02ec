//! `Barrier`: waits that are polled with changing wakers, and dropped.

use raddle_proof::Choices;

use super::api::Barrier;
use crate::compare::Step;
use crate::record::note;
use crate::tasks::{Tasks, Wakers};

pub(crate) fn run(program: &[Step]) {
    let n = Choices::new(&program[0]).below(5);
    note!("Barrier::new({n})");
    let barrier = Barrier::new(n);
    run_on(&barrier, &program[1..]).end();
}

fn run_on(barrier: &Barrier, program: &[Step]) -> Wakers {
    let mut tasks = Tasks::new(6);
    for step in program {
        let choices = &mut Choices::new(step);
        match choices.below(10) {
            0..=2 => tasks.add("wait", barrier.wait()),
            9 => tasks.drop_one(choices),
            _ => {
                if let Some(result) = tasks.poll(choices) {
                    note!("leader {}", result.is_leader());
                }
            }
        }
        tasks.end_step();
    }
    tasks.end()
}
