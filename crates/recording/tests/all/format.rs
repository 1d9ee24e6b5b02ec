//! Tests of the file format: a written recording is read again, and other files are refused.
//! `raddle-proof` has the property tests of the format.

use raddle_recording::{Entry, Event, Record, Recording, StringId, Task, Thread, Writer};

const NUMBER_MODULUS: u64 = 1 << 40;
const COUNT_LIMIT: u32 = 1 << 24;

fn bytes(recording: &Recording) -> Vec<u8> {
    let mut file = Vec::new();
    recording.write_to(&mut file).unwrap();
    file
}

/// Returns a file of format 1 with one chunk, without checksums.
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
    let sum = crc32(&file[..12]).map(|byte| !byte);
    file[12..16].copy_from_slice(&sum);
    assert_eq!(
        Recording::read_from(&file[..]).unwrap(),
        Recording::default()
    );
    file[8] = 3;
    let error = Recording::read_from(&file[..]).unwrap_err();
    assert!(error.is_newer());
    assert!(error.to_string().contains("format 3"), "{error}");
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

/// Computes the checksum of a format bit by bit: CRC-32 of IEEE 802.3.
fn crc32(bytes: &[u8]) -> [u8; 4] {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xedb8_8320 * (sum & 1));
        }
    }
    (!sum).to_le_bytes()
}

/// A recording with each kind of chunk.
fn small_recording() -> Recording {
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
    let mark = Entry {
        time: 9,
        event: Event::Marked { text: name },
    };
    let thread = Thread {
        os_id: 7,
        name: "w".to_owned(),
        process: "host".to_owned(),
        lost: 2,
        entries,
        rare: vec![mark],
        rare_lost: 1,
    };
    let task = Task {
        location: Some(name),
        name: None,
        parent: Some(0),
    };
    recording.tasks.insert(6, task);
    recording.threads.insert(3, thread);
    recording
}

/// The format of `FORMAT.md`.
#[test]
fn a_small_file_has_the_bytes_of_the_documentation() {
    let mut expected = b"RADDLEFR\x02\x00\x00\x00".to_vec();
    // The checksum of a header is inverted.
    let inverted = |bytes: &[u8]| crc32(bytes).map(|byte| !byte);
    expected.extend(inverted(&expected));
    let chunks = [
        &b"\x01\x02\x00\x00\x00\xac\x02"[..],
        b"\x02\x09\x00\x00\x00\x01a.rs:1:2",
        b"\x06\x04\x00\x00\x00\x06\x02\x00\x01",
        b"\x03\x03\x00\x00\x00\x03\x07w",
        b"\x05\x05\x00\x00\x00\x03host",
        b"\x07\x06\x00\x00\x00\x03\x01\x1d\x12\x00\x01",
        b"\x04\x0b\x00\x00\x00\x03\x02\x03\xc8\x01\x0a\x01\x05\x13\x00\x00",
    ];
    for chunk in chunks {
        let (header, content) = chunk.split_at(5);
        expected.extend(header);
        expected.extend(inverted(header));
        expected.extend(content);
        expected.extend(crc32(content));
    }
    let recording = small_recording();
    assert_eq!(bytes(&recording), expected);
    assert_eq!(Recording::read_from(&expected[..]).unwrap(), recording);
}

#[test]
fn each_flipped_bit_is_noticed_and_the_other_chunks_are_read() {
    let whole = small_recording();
    let file = bytes(&whole);
    for bit in 0..file.len() * 8 {
        let mut flipped = file.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let read = Recording::read_from(&flipped[..]);
        if bit < 16 * 8 {
            let error = read.expect_err("the header of the file is damaged");
            assert!(
                error.is_foreign() || error.is_newer() || error.is_damaged(),
                "bit {bit}: {error}"
            );
            continue;
        }
        let read = read.unwrap_or_else(|error| panic!("bit {bit}: {error}"));
        assert_eq!((read.damaged, read.is_truncated), (1, false), "bit {bit}");
        // One chunk of seven is missing.
        let lacks = [
            read.origin != whole.origin,
            read.strings != whole.strings,
            read.tasks != whole.tasks,
            read.threads.get(&3).is_none_or(|thread| thread.os_id != 7),
            read.threads[&3].process.is_empty(),
            read.threads[&3].rare.is_empty(),
            read.threads[&3].entries.is_empty(),
        ];
        assert_eq!(lacks.iter().filter(|lacks| **lacks).count(), 1, "bit {bit}");
    }
}

#[test]
fn a_file_that_ends_anywhere_is_read_up_to_there() {
    let file = bytes(&small_recording());
    for length in 12..file.len() {
        let read = Recording::read_from(&file[..length]).unwrap();
        assert_eq!(read.damaged, 0, "{length}");
        let is_between_chunks = [16, 31, 53, 70, 86, 104, 123].contains(&length);
        assert_eq!(read.is_truncated, !is_between_chunks, "{length}");
    }
}

#[test]
fn a_piece_that_follows_a_torn_one_is_read() {
    let mut file = bytes(&small_recording());
    let length = file.len() - 6;
    file.truncate(length);
    let mut piece = Recording::default();
    let entries = vec![Entry {
        time: 1,
        event: Event::DriverStarted,
    }];
    let thread = Thread {
        entries: entries.clone(),
        ..Thread::default()
    };
    piece.threads.insert(9, thread);
    file.extend(&bytes(&piece)[16..]);
    let read = Recording::read_from(&file[..]).unwrap();
    assert!(read.damaged > 0 && !read.is_truncated);
    assert_eq!(read.threads[&9].entries, entries);
}

#[test]
fn a_file_of_format_1_is_read() {
    let mut file = b"RADDLEFR\x01\x00\x02\x00".to_vec();
    file.extend(b"\x01\x02\x00\x00\x00\xac\x02");
    file.extend(b"\x03\x03\x00\x00\x00\x03\x07w");
    file.extend(b"\x04\x0b\x00\x00\x00\x03\x02\x03\xc8\x01\x0a\x01\x05\x13\x00\x00");
    let read = Recording::read_from(&file[..]).unwrap();
    assert_eq!(read.origin, 300);
    assert_eq!(
        read.threads[&3].entries,
        small_recording().threads[&3].entries
    );
    // Without checksums, only the content of a chunk shows damage.
    file[17] = 0xff;
    file[18] = 0xff;
    assert!(Recording::read_from(&file[..]).unwrap_err().is_damaged());
}

#[test]
fn a_piece_whose_write_failed_is_written_again_whole() {
    /// Fails once.
    struct Full<'a>(&'a mut Vec<u8>, bool);

    impl std::io::Write for Full<'_> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if bytes.len() > 16 && std::mem::take(&mut self.1) {
                return Err(std::io::ErrorKind::StorageFull.into());
            }
            self.0.extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut file = Vec::new();
    let mut writer = Writer::new(Full(&mut file, true)).unwrap();
    let recording = small_recording();
    writer.append(&recording).unwrap_err();
    assert_eq!(writer.bytes(), 16);
    writer.append(&recording).unwrap();
    assert_eq!(Recording::read_from(&file[..]).unwrap(), recording);
}
