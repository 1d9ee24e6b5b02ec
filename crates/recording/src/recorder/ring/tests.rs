use super::*;

fn record(number: u64) -> Record {
    Record::from_words([number, !number])
}

fn filled(capacity: usize, count: u64) -> (RingWriter, RingReader) {
    let (mut writer, reader) = ring(capacity);
    (0..count).for_each(|number| writer.push(record(number)));
    (writer, reader)
}

fn numbers(batch: &Batch) -> Vec<u64> {
    batch
        .records
        .iter()
        .map(|record| record.words()[0])
        .collect()
}

#[test]
fn an_empty_ring_has_no_records() {
    let (_writer, reader) = ring(4);
    let batch = reader.read_from(0);
    assert_eq!((batch.position, batch.end()), (0, 0));
}

#[test]
fn a_full_ring_keeps_the_latest_records() {
    let (_writer, reader) = filled(4, 11);
    let batch = reader.read_from(0);
    // Record 7 is still in the ring, but the writer may be overwriting it, so it is left out.
    assert_eq!(batch.position, 8);
    assert_eq!(numbers(&batch), [8, 9, 10]);
    assert_eq!(batch.records, [8, 9, 10].map(record));
}

#[test]
fn a_reader_continues_from_its_position() {
    let (mut writer, reader) = filled(8, 3);
    let batch = reader.read_from(0);
    assert_eq!(numbers(&batch), [0, 1, 2]);
    writer.push(record(3));
    assert_eq!(numbers(&reader.read_from(batch.end())), [3]);
    assert_eq!(
        reader.read_from(9),
        Batch {
            position: 9,
            records: Vec::new()
        }
    );
}

#[test]
fn a_capacity_is_rounded_up() {
    for (capacity, slots) in [(0, 2), (3, 4), (8, 8)] {
        let (_writer, reader) = ring(capacity);
        assert_eq!(reader.shared.slots.len(), slots);
    }
}
