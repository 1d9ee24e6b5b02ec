//! The writing methods, on streams and `BufWriter`, with futures that are dropped midway.

use std::io::{Cursor, IoSlice};

use raddle_proof::Choices;

use super::api::{AsyncWrite, AsyncWriteExt as _, BufWriter};
use super::stream::{Stream, kinds, size};
use crate::compare::Step;
use crate::record::note;
use crate::tasks::{Gate, Tasks};

type Target = Box<dyn AsyncWrite + Unpin>;

const BYTES: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\
                       abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

pub(crate) fn run(program: &[Step]) {
    let choices = &mut Choices::new(&program[0]);
    let stream = Stream::new("w", &program[1..]);
    stream.set_vectored(choices.once_in(2));
    let target: Target = match choices.below(4) {
        0 => Box::new(stream.clone()),
        _ => Box::new(BufWriter::with_capacity(size(choices), stream.clone())),
    };
    note!("vectored {}", target.is_write_vectored());
    let mut target = Some(target);
    let gate = Gate::default();
    let mut tasks: Tasks<'_, Target> = Tasks::new(1);
    for step in &program[1..] {
        let choices = &mut Choices::new(step);
        match choices.below(8) {
            0 => stream.wake(),
            1 => {
                gate.open(0);
                target = tasks.poll(choices).or(target);
                gate.close();
            }
            _ => match target.take() {
                Some(taken) => start(&mut tasks, taken, gate.clone(), choices),
                None => target = tasks.poll(choices),
            },
        }
        tasks.end_step();
    }
    tasks.end().end();
}

/// Runs `$operation` unless the gate is opened. Returns the target.
macro_rules! cancellable {
    ($tasks:ident, $gate:ident, $target:ident, $name:literal, $operation:expr) => {
        $tasks.add($name, async move {
            match $gate.unless_opened($operation).await {
                Some(result) => note!("{:?}", result.map_err(|error| error.kind())),
                None => note!("dropped"),
            }
            $target
        })
    };
}

fn start(tasks: &mut Tasks<'_, Target>, mut target: Target, gate: Gate, choices: &mut Choices<'_>) {
    let kind = choices.below(12);
    let bytes = &BYTES[..size(choices)];
    let more = &BYTES[..size(choices)];
    note!("{} {}", bytes.len(), more.len());
    match kind {
        0 | 1 => cancellable!(tasks, gate, target, "write", target.write(bytes)),
        2 | 3 => cancellable!(tasks, gate, target, "write_all", target.write_all(bytes)),
        4 => cancellable!(
            tasks,
            gate,
            target,
            "write_vectored",
            target.write_vectored(&[IoSlice::new(bytes), IoSlice::new(more)])
        ),
        5 => tasks.add("write_buf", async move {
            let mut source = Cursor::new(bytes);
            let result = gate.unless_opened(target.write_buf(&mut source)).await;
            note!("{:?} {}", kinds(result), source.position());
            target
        }),
        6 => tasks.add("write_all_buf", async move {
            let mut source = Cursor::new(bytes);
            let result = gate.unless_opened(target.write_all_buf(&mut source)).await;
            note!("{:?} {}", kinds(result), source.position());
            target
        }),
        7 | 8 => cancellable!(tasks, gate, target, "flush", target.flush()),
        9 => cancellable!(tasks, gate, target, "shutdown", target.shutdown()),
        10 => cancellable!(tasks, gate, target, "write_u8", target.write_u8(b'#')),
        _ => cancellable!(
            tasks,
            gate,
            target,
            "write_u32",
            target.write_u32(0x3132_3334)
        ),
    }
}
