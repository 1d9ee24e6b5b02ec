//! `BufStream`, `BufReader` and `BufWriter` through their poll methods: reads, writes, seeks, and
//! the buffered bytes.

use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_proof::Choices;

use super::api::{
    AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, BufReader, BufStream, BufWriter, ReadBuf,
};
use super::stream::{Stream, in_kinds, size};
use crate::compare::Step;
use crate::record::note;
use crate::tasks::Wakers;

const BYTES: &[u8; 100] = &[b'x'; 100];

/// The common methods of the three types.
trait Buffered: AsyncRead + AsyncWrite + AsyncSeek + Unpin {
    /// Fills the read buffer and consumes up to `n` bytes of it.
    fn poll_fill(&mut self, _: &mut Context<'_>, _n: usize) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn contents(&self) -> &[u8] {
        &[]
    }
}

fn fill(
    mut reader: impl AsyncBufRead + Unpin,
    cx: &mut Context<'_>,
    n: usize,
) -> Poll<io::Result<()>> {
    let polled = Pin::new(&mut reader).poll_fill_buf(cx).map_ok(|bytes| {
        note!("{}", bytes.escape_ascii());
        n.min(bytes.len())
    });
    polled.map_ok(|amount| Pin::new(&mut reader).consume(amount))
}

impl Buffered for BufStream<Stream> {
    fn poll_fill(&mut self, cx: &mut Context<'_>, n: usize) -> Poll<io::Result<()>> {
        fill(self, cx, n)
    }
}

impl Buffered for BufReader<Stream> {
    fn poll_fill(&mut self, cx: &mut Context<'_>, n: usize) -> Poll<io::Result<()>> {
        fill(self, cx, n)
    }

    fn contents(&self) -> &[u8] {
        self.buffer()
    }
}

/// The contents are not compared: until all bytes are written, Tokio's buffer includes bytes that
/// are written already.
impl Buffered for BufWriter<Stream> {}

pub(crate) fn run(program: &[Step]) {
    let choices = &mut Choices::new(&program[0]);
    let stream = Stream::new("b", &program[1..]);
    stream.set_vectored(choices.once_in(2));
    stream.note_rooms();
    let sizes = [size(choices), size(choices)];
    let inner = stream.clone();
    let mut state = State {
        stream: stream.clone(),
        buffered: match choices.below(3) {
            0 => Box::new(BufStream::with_capacity(sizes[0].max(1), sizes[1], inner)),
            1 => Box::new(BufReader::with_capacity(sizes[0].max(1), inner)),
            _ => Box::new(BufWriter::with_capacity(sizes[1], inner)),
        },
        seeking: false,
        wakers: Wakers::new(1),
    };
    note!(
        "capacities {sizes:?} vectored {}",
        state.buffered.is_write_vectored()
    );
    for step in &program[1..] {
        let choices = &mut Choices::new(step);
        if choices.once_in(8) {
            stream.wake();
        } else {
            state.step(choices);
        }
        note!("| {}", state.buffered.contents().escape_ascii());
        state.wakers.end_step();
    }
}

struct State {
    stream: Stream,
    buffered: Box<dyn Buffered>,
    /// Whether a seek was started and is not complete.
    seeking: bool,
    wakers: Wakers,
}

impl State {
    fn step(&mut self, choices: &mut Choices<'_>) {
        let kind = choices.below(9);
        let n = size(choices);
        let bytes = &BYTES[..n];
        let mut room = [0; 100];
        let mut buf = ReadBuf::new(&mut room[..n]);
        let mut buffered = Pin::new(&mut self.buffered);
        match kind {
            0 | 1 => {
                note!("poll_read {n}");
                let read = |cx: &mut Context<'_>| buffered.as_mut().poll_read(cx, &mut buf);
                let polled = self.wakers.poll(0, choices, read);
                note!("{:?} {}", in_kinds(polled), buf.filled().escape_ascii());
            }
            2 => {
                note!("poll_fill_buf, consume {n}");
                let polled = self.wakers.poll(0, choices, |cx| buffered.poll_fill(cx, n));
                note!("{:?}", in_kinds(polled));
            }
            3 | 4 => {
                note!("poll_write {n}");
                let write = |cx: &mut Context<'_>| buffered.as_mut().poll_write(cx, bytes);
                note!("{:?}", in_kinds(self.wakers.poll(0, choices, write)));
            }
            5 => {
                let slices = [IoSlice::new(bytes), IoSlice::new(&BYTES[..5])];
                note!("poll_write_vectored {n} 5");
                let write = |cx: &mut Context<'_>| buffered.poll_write_vectored(cx, &slices);
                note!("{:?}", in_kinds(self.wakers.poll(0, choices, write)));
            }
            6 => {
                note!("poll_flush");
                let flush = |cx: &mut Context<'_>| buffered.poll_flush(cx);
                note!("{:?}", in_kinds(self.wakers.poll(0, choices, flush)));
            }
            7 if n == 0 => {
                note!("poll_shutdown");
                let shutdown = |cx: &mut Context<'_>| buffered.poll_shutdown(cx);
                note!("{:?}", in_kinds(self.wakers.poll(0, choices, shutdown)));
            }
            _ if self.seeking => {
                note!("poll_complete");
                // Raddle flushes the stream and waits for the flush before it seeks; Tokio does
                // not.
                self.stream.set_at_rest(true);
                let complete = |cx: &mut Context<'_>| buffered.poll_complete(cx);
                let polled = self.wakers.poll(0, choices, complete);
                self.stream.set_at_rest(false);
                self.seeking = polled.is_pending();
                note!("{:?}", in_kinds(polled));
            }
            _ => {
                let position = match choices.below(3) {
                    0 => SeekFrom::Start(n as u64),
                    1 => SeekFrom::Current(n as i64 - 4),
                    _ => SeekFrom::End(-(n as i64)),
                };
                let started = buffered.start_seek(position);
                note!("start_seek {started:?}");
                self.seeking = started.is_ok();
            }
        }
    }
}
