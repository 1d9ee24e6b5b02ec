//! `copy`, `copy_buf` and `copy_bidirectional`: the bytes, the flushes and the shutdowns.

use std::cell::RefCell;
use std::rc::Rc;

use raddle_proof::Choices;

use super::api::{BufReader, copy, copy_bidirectional_with_sizes, copy_buf};
use super::stream::{Log, Stream, Without, size};
use crate::compare::Step;
use crate::record::note;
use crate::tasks::Tasks;

/// More polls than any program needs to end.
const MAX_POLLS: usize = 1000;

pub(crate) fn run(program: &[Step]) {
    let choices = &mut Choices::new(&program[0]);
    let kind = choices.below(4);
    let [a, b] = ["a", "b"].map(|name| Stream::new(name, &program[1..]));
    let sizes = [size(choices).max(1), size(choices).max(1)];
    // After a pending write both read ahead, Tokio once in each poll, and Raddle until the reader
    // is pending. The calls are equal if no write is pending, and in any case the written bytes and
    // the result. The program `relaying` compares what a client sees of writes that are pending.
    let writes_wait = choices.once_in(2);
    let bidirectional = kind > 1;
    // An error ends both directions, and Raddle alternates which of the two comes first. It also
    // writes what was read ahead before an error of the reader.
    let errors = bidirectional || writes_wait;
    for stream in [&a, &b] {
        let reads = Without {
            errors,
            ..Without::default()
        };
        let writes = Without {
            errors,
            waits: !writes_wait,
            // If the final flush was pending, Tokio's `copy_buf` reads once more.
            waits_at_rest: kind == 1,
        };
        stream.restrict(reads, writes);
        stream.note_rooms();
    }
    let logs = [Log::default(), Log::default()];
    a.log_to(&logs[0], &logs[1]);
    b.log_to(&logs[1], &logs[0]);
    let mut tasks: Tasks<'_, ()> = Tasks::new(1);
    let (mut from, mut to) = (a.clone(), b.clone());
    let result = Rc::new(RefCell::new(String::new()));
    let text = Rc::clone(&result);
    match kind {
        0 => tasks.add("copy", async move {
            let result = copy(&mut from, &mut to).await;
            *text.borrow_mut() = format!("{:?}", result.map_err(|error| error.kind()));
        }),
        1 => tasks.add("copy_buf", async move {
            let mut from = BufReader::with_capacity(sizes[0], from);
            let result = copy_buf(&mut from, &mut to).await;
            *text.borrow_mut() = format!("{:?}", result.map_err(|error| error.kind()));
        }),
        _ => tasks.add("copy_bidirectional", async move {
            let [there, back] = sizes;
            let result = copy_bidirectional_with_sizes(&mut from, &mut to, there, back).await;
            *text.borrow_mut() = format!("{:?}", result.map_err(|error| error.kind()));
        }),
    }
    tasks.end_step();
    if writes_wait {
        let no_choices = &mut Choices::new(&[]);
        let polls = (0..MAX_POLLS).take_while(|_| tasks.poll(no_choices).is_none());
        assert!(polls.count() < MAX_POLLS, "the copy does not end");
        crate::record::forget_line();
    } else {
        for step in &program[1..] {
            let choices = &mut Choices::new(step);
            match choices.below(4) {
                0 => a.wake(),
                1 => b.wake(),
                _ => {
                    tasks.poll(choices);
                    for log in &logs {
                        note!("{}", log.take());
                    }
                }
            }
            tasks.end_step();
        }
    }
    note!("{}", result.borrow());
    note!("{}", a.written().escape_ascii());
    note!("{}", b.written().escape_ascii());
    tasks.end().end();
}
