//! Models of a ring: a reader copies it while the writer goes on.
//!
//! Record `n` has `n` in both words, so that a record that is made of halves of two is seen.
#![cfg(raddle_loom)]

use raddle_primitives::model::{self, Model};
use raddle_primitives::thread;
use raddle_recorder::ring::{Batch, RingReader, RingWriter, ring};
use raddle_recording::Record;

/// The record at a position.
fn record(position: u64) -> Record {
    Record::from_words([position + 1; 2])
}

fn push(writer: &mut RingWriter, count: u64) {
    for _ in 0..count {
        writer.push(record(writer.count()));
    }
}

/// Every record is whole and at its position.
fn check(batch: &Batch) {
    for (position, found) in (batch.position..).zip(&batch.records) {
        assert_eq!(*found, record(position), "torn record");
    }
}

/// A writer pushes `before` records, then `during` more under a reader from `position` on.
fn read_under_writer(before: u64, during: u64, position: u64) {
    let (mut writer, reader) = ring(2);
    push(&mut writer, before);
    let late = reader.clone();
    let pushing = thread::spawn(move || push(&mut writer, during));
    let batch = reader.read_from(position);
    check(&batch);
    assert!(batch.position >= position);
    assert!(
        batch.end() >= before,
        "a record from before the read is missing"
    );
    pushing.join().unwrap();
    // The next read goes on where this one ended.
    let next = late.read_from(batch.end());
    check(&next);
    assert_eq!(next.end(), before + during);
}

/// The ring fills up under the reader. Complete.
#[test]
fn a_reader_of_a_ring_that_fills_up_reads_whole_records() {
    model::check(|| read_under_writer(0, 2, 0));
}

/// The writer overwrites what is read. Complete.
#[test]
fn a_reader_leaves_out_records_that_are_overwritten_meanwhile() {
    model::check(|| read_under_writer(2, 2, 0));
}

/// The writer fills the ring and overwrites it while the reader is at any point. Complete.
#[test]
fn a_reader_leaves_out_records_of_a_former_round() {
    model::check(|| read_under_writer(1, 4, 0));
}

/// A reader that follows the writer. Complete.
#[test]
fn a_reader_that_continues_from_its_position_reads_whole_records() {
    model::check(|| read_under_writer(3, 2, 2));
}

/// Two readers do not disturb each other. Bounded at two preemptions.
#[test]
fn two_readers_read_whole_records() {
    Model::new().preemptions(2).check(|| {
        let (mut writer, reader) = ring(2);
        push(&mut writer, 1);
        let other = reader.clone();
        let pushing = thread::spawn(move || push(&mut writer, 2));
        let reading = thread::spawn(move || check(&other.read_from(0)));
        check(&reader.read_from(0));
        pushing.join().unwrap();
        reading.join().unwrap();
    });
}

/// A reader that does not look at the count again.
fn read_carelessly(reader: &RingReader) {
    for found in reader.read_unchecked() {
        let [first, second] = found.words();
        assert_eq!(first, second, "torn record");
    }
}

/// The second look at the count is left out.
#[test]
#[should_panic(expected = "torn record")]
fn canary_a_reader_that_does_not_check_for_overwriting_is_caught() {
    model::check(|| {
        let (mut writer, reader) = ring(2);
        push(&mut writer, 2);
        let pushing = thread::spawn(move || push(&mut writer, 2));
        read_carelessly(&reader);
        pushing.join().unwrap();
    });
}
