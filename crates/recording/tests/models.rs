//! Models of a ring: a reader copies it while the writer pushes.
//!
//! Both words of a record have the same number, so a record whose halves belong to two records is
//! found.
#![cfg(raddle_loom)]

use raddle_primitives::model::{self, Model};
use raddle_primitives::thread;
use raddle_recording::Record;
use raddle_recording::recorder::ring::{Batch, RingReader, RingWriter, ring};

/// The record at a position.
fn record(position: u64) -> Record {
    Record::from_words([position + 1; 2])
}

fn push(writer: &mut RingWriter, count: u64) {
    for _ in 0..count {
        writer.push(record(writer.count()));
    }
}

/// Checks that each record is whole and at its position.
fn check(batch: &Batch) {
    for (position, found) in (batch.position..).zip(&batch.records) {
        assert_eq!(*found, record(position), "torn record");
    }
}

/// The writer pushes `before` records, and then `during` records while a reader reads from
/// `position`.
fn read_under_writer(before: u64, during: u64, position: u64) {
    let (mut writer, reader) = ring(2);
    push(&mut writer, before);
    let second_reader = reader.clone();
    let pusher = thread::spawn(move || push(&mut writer, during));
    let batch = reader.read_from(position);
    check(&batch);
    assert!(batch.position >= position);
    assert!(
        batch.end() >= before,
        "a record that was pushed before the read is missing"
    );
    pusher.join().unwrap();
    // The next read continues where this one ended.
    let next = second_reader.read_from(batch.end());
    check(&next);
    assert_eq!(next.end(), before + during);
}

/// The ring fills up during the read. All interleavings are explored.
#[test]
fn a_reader_of_a_ring_that_fills_up_reads_whole_records() {
    model::check(|| read_under_writer(0, 2, 0));
}

/// The writer overwrites records during the read. All interleavings are explored.
#[test]
fn a_reader_leaves_out_records_that_are_overwritten_during_the_read() {
    model::check(|| read_under_writer(2, 2, 0));
}

/// The writer fills the ring and overwrites it during the read. All interleavings are explored.
#[test]
fn a_reader_leaves_out_records_of_a_former_round() {
    model::check(|| read_under_writer(1, 4, 0));
}

/// A reader that follows the writer. All interleavings are explored.
#[test]
fn a_reader_that_continues_from_its_position_reads_whole_records() {
    model::check(|| read_under_writer(3, 2, 2));
}

/// Two readers read at the same time. Bounded at two preemptions.
#[test]
fn two_readers_read_whole_records() {
    Model::new().preemptions(2).check(|| {
        let (mut writer, reader) = ring(2);
        push(&mut writer, 1);
        let other = reader.clone();
        let pusher = thread::spawn(move || push(&mut writer, 2));
        let reader_thread = thread::spawn(move || check(&other.read_from(0)));
        check(&reader.read_from(0));
        pusher.join().unwrap();
        reader_thread.join().unwrap();
    });
}

/// Reads without checking the count afterwards.
fn read_without_check(reader: &RingReader) {
    for found in reader.read_unchecked() {
        let [first, second] = found.words();
        assert_eq!(first, second, "torn record");
    }
}

/// The second check of the count is left out.
#[test]
#[should_panic(expected = "torn record")]
fn canary_a_reader_that_does_not_check_for_overwriting_is_caught() {
    model::check(|| {
        let (mut writer, reader) = ring(2);
        push(&mut writer, 2);
        let pusher = thread::spawn(move || push(&mut writer, 2));
        read_without_check(&reader);
        pusher.join().unwrap();
    });
}
