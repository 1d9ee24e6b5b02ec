//! `OnceCell`: initializers that succeed, fail, wait and are dropped, besides `set`.

use raddle_proof::Choices;

use super::api::OnceCell;
use crate::compare::Step;
use crate::record::{Value, note};
use crate::tasks::{Gate, Tasks, Wakers, planned_panic};

pub(crate) fn run(program: &[Step]) {
    let choices = &mut Choices::new(&program[0]);
    let mut cell = match choices.below(8) {
        0 => OnceCell::new_with(Some(Value::next())),
        1 => OnceCell::from(Value::next()),
        2 => OnceCell::new_with(None),
        _ => OnceCell::new(),
    };
    for part in program[1..].chunks(24) {
        run_on(&cell, part).end();
        note!("get_mut {:?}", cell.get_mut());
        match choices.below(3) {
            0 => note!("take {:?}", cell.take()),
            1 => note!("clone {:?}", cell.clone() == cell),
            _ => {}
        }
        note!("{:?}", cell.get());
    }
    note!("into_inner {:?}", cell.into_inner());
}

fn run_on(cell: &OnceCell<Value>, program: &[Step]) -> Wakers {
    let gate = Gate::default();
    let mut tasks: Tasks<'_, ()> = Tasks::new(5);
    for step in program {
        let choices = &mut Choices::new(step);
        match choices.below(12) {
            0 => tasks.add("get_or_init", async {
                let init = || async {
                    match gate.opened().await {
                        2 => planned_panic(),
                        _ => Value::next(),
                    }
                };
                note!("{:?}", cell.get_or_init(init).await);
            }),
            1 | 2 => tasks.add("get_or_try_init", async {
                let init = || async {
                    match gate.opened().await {
                        0 => Ok(Value::next()),
                        2 => planned_panic(),
                        error => Err(error),
                    }
                };
                note!("{:?}", cell.get_or_try_init(init).await);
            }),
            3..=5 => {
                tasks.poll(choices);
            }
            6 | 7 => {
                let with = choices.below(3);
                note!("open the gate with {with}");
                gate.open(with);
                tasks.poll(choices);
            }
            8 => tasks.drop_one(choices),
            9 => {
                let set = cell.set(Value::next());
                note!("set");
                match &set {
                    Ok(()) => {}
                    Err(error) => note!(
                        "{error:?} {} {}",
                        error.is_already_init_err(),
                        error.is_initializing_err()
                    ),
                }
            }
            _ => note!("get {:?}", cell.get()),
        }
        note!("| {}", cell.initialized());
        tasks.end_step();
    }
    tasks.end()
}
