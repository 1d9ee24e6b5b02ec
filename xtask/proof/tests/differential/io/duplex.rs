//! `duplex`, split into halves and joined again: reads and writes at both ends, shutdowns and
//! drops.

use std::io::IoSlice;
use std::pin::Pin;

use raddle_proof::Choices;

use super::api::{AsyncRead as _, AsyncWrite as _, DuplexStream, ReadBuf, ReadHalf, WriteHalf};
use super::api::{duplex, split};
use super::stream::{in_kinds, size};
use crate::compare::Step;
use crate::record::note;
use crate::tasks::Wakers;

const BYTES: &[u8; 100] = &[b'x'; 100];

enum End {
    Whole(DuplexStream),
    Halves(
        Option<ReadHalf<DuplexStream>>,
        Option<WriteHalf<DuplexStream>>,
    ),
    Gone,
}

pub(crate) fn run(program: &[Step]) {
    let choices = &mut Choices::new(&program[0]);
    let n = size(choices).max(1);
    let (first, second) = duplex(n);
    note!("duplex({n})");
    let mut ends = [End::Whole(first), End::Whole(second)];
    // For each end there is a slot for a reader and one for a writer.
    let mut wakers = Wakers::new(4);
    for step in &program[1..] {
        let choices = &mut Choices::new(step);
        let which = choices.below(2);
        note!("end {which}:");
        self::step(&mut ends[which], which * 2, &mut wakers, choices);
        wakers.end_step();
    }
    (0..4).for_each(|slot| wakers.forget(slot));
    drop(ends);
    wakers.end();
}

fn step(end: &mut End, slot: usize, wakers: &mut Wakers, choices: &mut Choices<'_>) {
    let kind = choices.below(24);
    let n = size(choices);
    match kind {
        0..=7 => {
            note!("read {n}");
            let mut bytes = [0; 100];
            let mut buf = ReadBuf::new(&mut bytes[..n]);
            let polled = match end {
                End::Whole(end) => {
                    wakers.poll(slot, choices, |cx| Pin::new(end).poll_read(cx, &mut buf))
                }
                End::Halves(Some(half), _) => {
                    wakers.poll(slot, choices, |cx| Pin::new(half).poll_read(cx, &mut buf))
                }
                _ => return,
            };
            note!("{:?} {}", in_kinds(polled), buf.filled().len());
        }
        8..=19 => {
            note!("write {n}");
            let vectored = kind == 8;
            let slices = [IoSlice::new(&BYTES[..n]), IoSlice::new(&BYTES[..5])];
            let polled = match end {
                End::Whole(end) => wakers.poll(slot + 1, choices, |cx| match kind {
                    8 => Pin::new(end).poll_write_vectored(cx, &slices),
                    9 => Pin::new(end).poll_flush(cx).map_ok(|()| 0),
                    10 if n == 0 => Pin::new(end).poll_shutdown(cx).map_ok(|()| 0),
                    _ => Pin::new(end).poll_write(cx, &BYTES[..n]),
                }),
                End::Halves(_, Some(half)) => wakers.poll(slot + 1, choices, |cx| match kind {
                    8 => Pin::new(half).poll_write_vectored(cx, &slices),
                    9 => Pin::new(half).poll_flush(cx).map_ok(|()| 0),
                    10 if n == 0 => Pin::new(half).poll_shutdown(cx).map_ok(|()| 0),
                    _ => Pin::new(half).poll_write(cx, &BYTES[..n]),
                }),
                _ => return,
            };
            note!("vectored {vectored} kind {kind} {:?}", in_kinds(polled));
        }
        20 => {
            *end = match std::mem::replace(end, End::Gone) {
                End::Whole(end) => {
                    note!("split");
                    let (read, write) = split(end);
                    End::Halves(Some(read), Some(write))
                }
                End::Halves(Some(read), Some(write)) => {
                    note!("unsplit {}", read.is_pair_of(&write));
                    End::Whole(read.unsplit(write))
                }
                other => other,
            };
        }
        21 if n > 8 => {
            if let End::Halves(read, _) = end {
                note!("drop the reading half");
                *read = None;
                wakers.forget(slot);
            }
        }
        22 if n > 8 => {
            if let End::Halves(_, write) = end {
                note!("drop the writing half");
                *write = None;
                wakers.forget(slot + 1);
            }
        }
        23 if n > 16 => {
            note!("drop");
            *end = End::Gone;
            wakers.forget(slot);
            wakers.forget(slot + 1);
        }
        _ => {}
    }
}
