//! `simplex` in halves, or whole.

use std::pin::Pin;
use std::task::Context;

use raddle_proof::Choices;

use super::api::{AsyncRead as _, AsyncWrite as _, ReadBuf, simplex};
use super::stream::{in_kinds, size};
use crate::compare::Step;
use crate::record::note;
use crate::tasks::Wakers;

const BYTES: &[u8; 100] = &[b'x'; 100];

pub(crate) fn run(program: &[Step]) {
    let choices = &mut Choices::new(&program[0]);
    let n = size(choices).max(1);
    let (reader, writer) = simplex(n);
    note!("simplex({n})");
    let (mut reader, mut writer) = (Some(reader), Some(writer));
    let mut wakers = Wakers::new(2);
    for step in &program[1..] {
        let choices = &mut Choices::new(step);
        let kind = choices.below(16);
        let n = size(choices);
        match (kind, &mut reader, &mut writer) {
            (0..=6, Some(reader), _) => {
                let mut bytes = [0; 100];
                let mut buf = ReadBuf::new(&mut bytes[..n]);
                note!("read {n}");
                let read = |cx: &mut Context<'_>| Pin::new(reader).poll_read(cx, &mut buf);
                let polled = wakers.poll(0, choices, read);
                note!("{:?} {}", in_kinds(polled), buf.filled().len());
            }
            (7..=12, _, Some(writer)) => {
                note!("write {n}");
                let write = |cx: &mut Context<'_>| Pin::new(writer).poll_write(cx, &BYTES[..n]);
                let polled = wakers.poll(1, choices, write);
                note!("{:?}", in_kinds(polled));
            }
            (13, _, Some(writer)) => {
                note!("flush");
                let polled = wakers.poll(1, choices, |cx| Pin::new(writer).poll_flush(cx));
                note!("{:?}", in_kinds(polled));
            }
            (14, _, Some(writer)) if n > 16 => {
                note!("shutdown");
                let polled = wakers.poll(1, choices, |cx| Pin::new(writer).poll_shutdown(cx));
                note!("{:?}", in_kinds(polled));
            }
            (15, _, _) if n == 0 => {
                note!("drop reader");
                reader = None;
                wakers.forget(0);
            }
            (15, _, _) if n == 1 => {
                note!("drop writer");
                writer = None;
                wakers.forget(1);
            }
            _ => {}
        }
        wakers.end_step();
    }
    drop((reader, writer));
    wakers.end();
}
