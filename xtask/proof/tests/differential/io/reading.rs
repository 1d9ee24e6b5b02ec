//! The reading methods, on `BufReader`, `Chain` and `Take`, with futures that are dropped midway.

use std::future::poll_fn;
use std::pin::Pin;

use raddle_proof::Choices;

use super::api::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use super::stream::{Stream, kinds, size};
use crate::compare::Step;
use crate::record::note;
use crate::tasks::{Gate, Tasks};

type Source = Box<dyn AsyncBufRead + Unpin>;

pub(crate) fn run(program: &[Step]) {
    let choices = &mut Choices::new(&program[0]);
    let streams = ["r", "s"].map(|name| Stream::new(name, &program[1..]));
    let sizes = [size(choices), size(choices)].map(|size| size.max(1));
    let source: Source = match choices.below(8) {
        0..=2 => Box::new(BufReader::with_capacity(sizes[0], streams[0].clone())),
        3 => Box::new(BufReader::with_capacity(
            sizes[0],
            streams[0].clone().take(choices.below(64) as u64),
        )),
        4 => {
            let buffered = BufReader::with_capacity(sizes[0], streams[0].clone());
            Box::new(buffered.take(choices.below(64) as u64))
        }
        5 => Box::new(BufReader::with_capacity(
            sizes[0],
            streams[0].clone().chain(streams[1].clone()),
        )),
        _ => Box::new(
            BufReader::with_capacity(sizes[0], streams[0].clone())
                .chain(BufReader::with_capacity(sizes[1], streams[1].clone())),
        ),
    };
    let mut source = Some(source);
    let gate = Gate::default();
    let mut tasks: Tasks<'_, Source> = Tasks::new(1);
    for step in &program[1..] {
        let choices = &mut Choices::new(step);
        match choices.below(8) {
            0 => streams[choices.below(2)].wake(),
            1 => {
                gate.open(0);
                source = tasks.poll(choices).or(source);
                gate.close();
            }
            _ => match source.take() {
                Some(taken) => start(&mut tasks, taken, gate.clone(), choices),
                None => source = tasks.poll(choices),
            },
        }
        tasks.end_step();
    }
    tasks.end().end();
}

/// Runs `$operation` unless the gate is opened. Returns the source.
macro_rules! cancellable {
    ($tasks:ident, $gate:ident, $source:ident, $name:literal, $operation:expr) => {
        $tasks.add($name, async move {
            match $gate.unless_opened($operation).await {
                Some(result) => note!("{:?}", result.map_err(|error| error.kind())),
                None => note!("dropped"),
            }
            $source
        })
    };
}

fn start(tasks: &mut Tasks<'_, Source>, mut source: Source, gate: Gate, choices: &mut Choices<'_>) {
    let kind = choices.below(14);
    let n = size(choices);
    let delimiter = [b'\n', b',', b'\xc3'][choices.below(3)];
    note!("{n} {}", delimiter.escape_ascii());
    match kind {
        0 => tasks.add("read", async move {
            let mut buf = vec![0; n];
            let result = gate.unless_opened(source.read(&mut buf)).await;
            note!("{:?} {}", kinds(result), buf.escape_ascii());
            source
        }),
        1 => tasks.add("read_exact", async move {
            let mut buf = vec![0; n];
            let result = gate.unless_opened(source.read_exact(&mut buf)).await;
            note!("{:?} {}", kinds(result), buf.escape_ascii());
            source
        }),
        2 => tasks.add("read_to_end", async move {
            let mut buf = b"before".to_vec();
            let result = gate.unless_opened(source.read_to_end(&mut buf)).await;
            note!("{:?} {}", kinds(result), buf.escape_ascii());
            source
        }),
        3 => tasks.add("read_to_string", async move {
            let mut buf = "before".to_owned();
            let result = gate.unless_opened(source.read_to_string(&mut buf)).await;
            note!("{:?} {buf:?}", kinds(result));
            source
        }),
        4 | 5 => tasks.add("read_until", async move {
            let mut buf = b"before".to_vec();
            let result = gate
                .unless_opened(source.read_until(delimiter, &mut buf))
                .await;
            note!("{:?} {}", kinds(result), buf.escape_ascii());
            source
        }),
        6 | 7 => tasks.add("read_line", async move {
            let mut buf = "before".to_owned();
            let result = gate.unless_opened(source.read_line(&mut buf)).await;
            note!("{:?} {buf:?}", kinds(result));
            source
        }),
        8 => tasks.add("fill_buf", async move {
            let filled = gate.unless_opened(source.fill_buf()).await;
            let amount = match filled {
                Some(Ok(bytes)) => {
                    note!("{}", bytes.escape_ascii());
                    n.min(bytes.len())
                }
                other => {
                    note!("{other:?}");
                    0
                }
            };
            source.consume(amount);
            note!("consumed {amount}");
            source
        }),
        9 => tasks.add("lines", async move {
            let mut lines = source.lines();
            loop {
                let line = gate.unless_opened(lines.next_line()).await;
                note!(
                    "{:?}",
                    line.as_ref()
                        .map(|line| line.as_ref().map_err(|error| error.kind()))
                );
                if !matches!(line, Some(Ok(Some(_)))) {
                    return lines.into_inner();
                }
            }
        }),
        10 => tasks.add("split", async move {
            let mut parts = source.split(delimiter);
            for _ in 0..n {
                let poll = poll_fn(|cx| Pin::new(&mut parts).poll_next_segment(cx));
                let part = gate.unless_opened(poll).await;
                match &part {
                    Some(Ok(Some(part))) => note!("{}", part.escape_ascii()),
                    other => note!("{other:?}"),
                }
            }
            // These methods do not return the source.
            let other: Source = Box::new(BufReader::new(Stream::new("t", &[])));
            other
        }),
        11 => cancellable!(tasks, gate, source, "read_u8", source.read_u8()),
        12 => cancellable!(tasks, gate, source, "read_i32_le", source.read_i32_le()),
        _ => tasks.add("read_buf", async move {
            let mut buf = Vec::with_capacity(n);
            let result = gate.unless_opened(source.read_buf(&mut buf)).await;
            note!("{:?} {}", kinds(result), buf.escape_ascii());
            source
        }),
    }
}
