//! Tests of the file format: a written recording is read again, and other files are refused.
//! `raddle-proof` has the property tests of the format.

use raddle_recording::{Entry, Event, Record, Recording, StringId, Thread};

const NUMBER_MODULUS: u64 = 1 << 40;
const COUNT_LIMIT: u32 = 1 << 24;

fn bytes(recording: &Recording) -> Vec<u8> {
    let mut file = Vec::new();
    recording.write_to(&mut file).unwrap();
    file
}

/// Returns a file with one chunk.
fn with_chunk(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut file = b"RADDLEFR\x01\x00\x00\x00".to_vec();
    file.push(tag);
    file.extend((content.len() as u32).to_le_bytes());
    file.extend(content);
    file
}

#[test]
fn a_file_of_something_else_is_foreign() {
    for file in [&b""[..], b"RADDLEFR", b"GIF89a..........."] {
        assert!(Recording::read_from(file).unwrap_err().is_foreign());
    }
}

#[test]
fn a_newer_major_version_is_refused_and_a_newer_minor_version_is_read() {
    let mut file = bytes(&Recording::default());
    file[10] = 9;
    assert_eq!(
        Recording::read_from(&file[..]).unwrap(),
        Recording::default()
    );
    file[8] = 2;
    let error = Recording::read_from(&file[..]).unwrap_err();
    assert!(error.is_newer());
    assert!(error.to_string().contains("format 2"), "{error}");
}

#[test]
fn unknown_chunks_and_unknown_events_are_left_out() {
    let recording = Recording::read_from(&with_chunk(77, b"later")[..]).unwrap();
    assert_eq!(recording, Recording::default());
    // Thread 1, no lost events, an event of kind 200, and the start of a driver turn.
    let content = [1, 0, 200, 2, 4, 1, 13, 4, 3, 0];
    let recording = Recording::read_from(&with_chunk(4, &content)[..]).unwrap();
    assert_eq!(recording.unknown, 1);
    let entries = &recording.threads[&1].entries;
    assert_eq!(
        *entries,
        [Entry {
            time: 3,
            event: Event::DriverStarted
        }]
    );
}

#[test]
fn a_length_beyond_the_end_of_the_file_allocates_no_memory() {
    let mut file = with_chunk(2, b"\x01text");
    file[13..17].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(Recording::read_from(&file[..]).unwrap().is_truncated);
}

#[test]
fn counts_above_the_maximum_are_stored_as_the_maximum() {
    let round_trip = |event| Record::new(0, event).event().unwrap();
    assert_eq!(
        round_trip(Event::ThreadDelayed { nanos: u64::MAX }),
        Event::ThreadDelayed {
            nanos: NUMBER_MODULUS - 1
        }
    );
    assert_eq!(
        round_trip(Event::TasksStolen {
            victim: 1,
            count: u32::MAX
        }),
        Event::TasksStolen {
            victim: 1,
            count: COUNT_LIMIT - 1
        }
    );
    assert_eq!(
        round_trip(Event::TaskWoken {
            task: NUMBER_MODULUS + 5
        }),
        Event::TaskWoken { task: 5 }
    );
}

/// The format of `docs/flight-recorder.md`.
#[test]
fn a_small_file_has_the_bytes_of_the_documentation() {
    let mut recording = Recording {
        origin: 300,
        ..Recording::default()
    };
    let name = StringId::new(1).unwrap();
    recording.strings.insert(name, "a.rs:1:2".to_owned());
    let spawned = Event::TaskSpawned {
        task: 5,
        location: name,
    };
    let entries = vec![
        Entry {
            time: 100,
            event: spawned,
        },
        Entry {
            time: 90,
            event: Event::PollStarted { task: 5 },
        },
    ];
    let thread = Thread {
        os_id: 7,
        name: "w".to_owned(),
        process: "host".to_owned(),
        lost: 2,
        entries,
    };
    recording.threads.insert(3, thread);
    let expected = [
        &b"RADDLEFR\x01\x00\x02\x00"[..],
        b"\x01\x02\x00\x00\x00\xac\x02",
        b"\x02\x09\x00\x00\x00\x01a.rs:1:2",
        b"\x03\x03\x00\x00\x00\x03\x07w",
        b"\x05\x05\x00\x00\x00\x03host",
        b"\x04\x0b\x00\x00\x00\x03\x02\x03\xc8\x01\x0a\x01\x05\x13\x00\x00",
    ];
    assert_eq!(bytes(&recording), expected.concat());
}
