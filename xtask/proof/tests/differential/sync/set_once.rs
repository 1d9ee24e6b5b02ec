//! `SetOnce`: waits for a value that is set once.

use raddle_proof::Choices;

use super::api::SetOnce;
use crate::compare::Step;
use crate::record::{Value, note};
use crate::tasks::{Tasks, Wakers};

pub(crate) fn run(program: &[Step]) {
    let cell = match Choices::new(&program[0]).below(10) {
        0 => SetOnce::new_with(Some(Value::next())),
        1 => SetOnce::from(Value::next()),
        2 => SetOnce::new_with(None),
        _ => SetOnce::new(),
    };
    let wakers = run_on(&cell, &program[1..]);
    note!("{}", cell.clone() == cell);
    note!("into_inner {:?}", cell.into_inner());
    wakers.end();
}

fn run_on(cell: &SetOnce<Value>, program: &[Step]) -> Wakers {
    let mut tasks = Tasks::new(5);
    for step in program {
        let choices = &mut Choices::new(step);
        match choices.below(12) {
            0..=2 => tasks.add("wait", cell.wait()),
            3..=6 => {
                if let Some(value) = tasks.poll(choices) {
                    note!("{value:?}");
                }
            }
            7 | 8 => tasks.drop_one(choices),
            9 if choices.once_in(4) => note!("set {:?}", cell.set(Value::next())),
            _ => note!("get {:?}", cell.get()),
        }
        note!("| {}", cell.initialized());
        tasks.end_step();
    }
    tasks.end()
}
