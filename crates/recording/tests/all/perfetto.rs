//! Tests of the export for Perfetto, with a small decoder of protocol buffers.

use raddle_recording::export::perfetto_trace;
use raddle_recording::{Entry, Event, PollResult, Recording, StringId, Thread};

/// The value of a field of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Integer(u64),
    Fixed(u64),
    Bytes(Vec<u8>),
}

/// A message: its fields in order.
#[derive(Clone, Debug, Default)]
struct Message(Vec<(u64, Value)>);

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a message ends in an integer");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    value
}

impl Message {
    fn parse(mut bytes: &[u8]) -> Self {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = varint(&mut bytes);
            let value = match key & 7 {
                0 => Value::Integer(varint(&mut bytes)),
                1 => {
                    let (value, rest) = bytes.split_first_chunk().unwrap();
                    bytes = rest;
                    Value::Fixed(u64::from_le_bytes(*value))
                }
                2 => {
                    let length = varint(&mut bytes) as usize;
                    let (value, rest) = bytes.split_at(length);
                    bytes = rest;
                    Value::Bytes(value.to_vec())
                }
                other => panic!("wire type {other}"),
            };
            fields.push((key >> 3, value));
        }
        Self(fields)
    }

    fn all(&self, field: u64) -> Vec<&Value> {
        let fields = self.0.iter().filter(|(number, _)| *number == field);
        fields.map(|(_, value)| value).collect()
    }

    fn integer(&self, field: u64) -> Option<u64> {
        match self.all(field)[..] {
            [Value::Integer(value)] => Some(*value),
            [] => None,
            ref other => panic!("{other:?}"),
        }
    }

    fn message(&self, field: u64) -> Option<Message> {
        match self.all(field)[..] {
            [Value::Bytes(bytes)] => Some(Message::parse(bytes)),
            [] => None,
            ref other => panic!("{other:?}"),
        }
    }

    fn text(&self, field: u64) -> String {
        match self.all(field)[..] {
            [Value::Bytes(bytes)] => String::from_utf8(bytes.clone()).unwrap(),
            ref other => panic!("{other:?}"),
        }
    }
}

fn packets(recording: &Recording) -> Vec<Message> {
    let trace = Message::parse(&perfetto_trace(recording));
    trace
        .0
        .iter()
        .map(|(field, value)| match (field, value) {
            (1, Value::Bytes(bytes)) => Message::parse(bytes),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn recording(entries: &[(u64, Event)]) -> Recording {
    let mut recording = Recording::default();
    let location = StringId::new(1).unwrap();
    recording.strings.insert(location, "main.rs:1:1".to_owned());
    let entry = |&(time, event)| Entry { time, event };
    let thread = Thread {
        os_id: 44,
        name: "worker".to_owned(),
        entries: entries.iter().map(entry).collect(),
        ..Thread::default()
    };
    recording.threads.insert(1, thread);
    recording
}

/// Returns the time, the type and the message of each event.
fn events(recording: &Recording) -> Vec<(u64, u64, Message)> {
    let packets = packets(recording);
    let event = |packet: &Message| {
        let event = packet.message(11)?;
        Some((packet.integer(8)?, event.integer(9)?, event))
    };
    packets.iter().filter_map(event).collect()
}

const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;

#[test]
fn a_thread_has_a_track_with_its_name_and_number() {
    let packets = packets(&recording(&[]));
    let tracks: Vec<_> = packets
        .iter()
        .filter_map(|packet| packet.message(60))
        .collect();
    assert_eq!(tracks.len(), 2);
    let thread = tracks[1].message(4).unwrap();
    assert_eq!(
        (thread.integer(2), thread.text(5)),
        (Some(44), "worker".to_owned())
    );
    assert!(packets.iter().all(|packet| packet.integer(10) == Some(1)));
}

#[test]
fn a_poll_is_a_slice_with_an_arrow_from_the_wake() {
    let result = PollResult::Pending;
    let location = StringId::new(1).unwrap();
    let events = events(&recording(&[
        (5, Event::TaskSpawned { task: 7, location }),
        (10, Event::PollStarted { task: 7 }),
        (30, Event::PollFinished { task: 7, result }),
    ]));
    let times_and_types: Vec<_> = events
        .iter()
        .map(|(time, kind, _)| (*time, *kind))
        .collect();
    assert_eq!(times_and_types, [(5, INSTANT), (10, BEGIN), (30, END)]);
    assert_eq!(events[1].2.text(23), "main.rs:1:1");
    let [arrow] = events[0].2.all(47)[..] else {
        panic!("{events:?}");
    };
    assert_eq!(events[1].2.all(48), [arrow]);
    assert!(matches!(arrow, Value::Fixed(_)));
    let tracks: Vec<_> = events
        .iter()
        .map(|(_, _, event)| event.integer(11))
        .collect();
    assert!(
        tracks
            .iter()
            .all(|track| *track == tracks[0] && track.is_some())
    );
}

#[test]
fn slices_end_in_the_reverse_order_of_their_starts() {
    let result = PollResult::Pending;
    let events = events(&recording(&[
        (1, Event::PollFinished { task: 1, result }),
        (2, Event::WorkerParked { worker: 0 }),
        (3, Event::DriverStarted),
        // The end of the driver turn is lost.
        (4, Event::WorkerUnparked { worker: 0 }),
    ]));
    let times_and_types: Vec<_> = events
        .iter()
        .map(|(time, kind, _)| (*time, *kind))
        .collect();
    assert_eq!(
        times_and_types,
        [(2, BEGIN), (3, BEGIN), (4, END), (4, END)]
    );
}

#[test]
fn a_spare_worker_has_a_track_for_the_thread_that_drives_it() {
    let (worker, spare, result) = (2, 0, PollResult::Pending);
    let polls = |start, task| {
        [
            (start, Event::PollStarted { task }),
            (start + 1, Event::PollFinished { task, result }),
        ]
    };
    let mut entries = vec![(1, Event::SpareWorkerStarted { worker, spare })];
    entries.extend(polls(2, 7));
    entries.push((4, Event::SpareWorkerStopped { worker }));
    entries.extend(polls(5, 8));
    // While the thread blocks in place, another one takes the worker over.
    entries.push((7, Event::SpareWorkerStarted { worker, spare }));
    entries.push((8, Event::PollStarted { task: 9 }));
    let mut recording = recording(&entries);
    let mut other = recording.threads[&1].clone();
    let end = Event::SpareWorkerStopped { worker };
    other.entries = [(9, entries[0].1), (10, end)]
        .map(|(time, event)| Entry { time, event })
        .to_vec();
    recording.threads.insert(2, other);

    let packets = packets(&recording);
    let tracks = packets.iter().filter_map(|packet| packet.message(60));
    let names: Vec<_> = tracks
        .filter(|track| track.integer(5).is_some())
        .map(|track| (track.text(2), track.integer(1).unwrap()))
        .collect();
    let [(name, track)] = &names[..] else {
        panic!("{names:?}");
    };
    assert_eq!(name, "spare worker 0");
    let events: Vec<_> = events(&recording)
        .iter()
        .map(|(time, kind, event)| (*time, *kind, event.integer(11) == Some(*track)))
        .collect();
    assert_eq!(
        events,
        [
            (1, BEGIN, true),
            (2, BEGIN, true),
            (3, END, true),
            (4, END, true),
            (5, BEGIN, false),
            (6, END, false),
            (7, BEGIN, true),
            (8, BEGIN, true),
            (9, END, true),
            (9, END, true),
            (9, BEGIN, true),
            (10, END, true),
        ]
    );
}

#[test]
fn hosts_are_processes_with_arrows_between_them_and_slices_of_faults() {
    let texts = [
        "4 bytes to server",
        "4 bytes from client",
        "crash of server",
        "crash",
    ];
    let text = |number| StringId::new(number).unwrap();
    let [to, from, fault, mark] = [1, 2, 3, 4].map(text);
    let mut recording = Recording::default();
    recording
        .strings
        .extend((1..).map(text).zip(texts.map(str::to_owned)));
    let mut add = |number, process: &str, entries: &[(u64, Event)]| {
        let entries = entries.iter().map(|&(time, event)| Entry { time, event });
        let thread = Thread {
            process: process.to_owned(),
            name: "kernel".to_owned(),
            entries: entries.collect(),
            ..Thread::default()
        };
        recording.threads.insert(number, thread);
    };
    let sent = |message| Event::MessageSent { message, text: to };
    let lost = Event::MessageLost { text: to };
    add(1, "client", &[(1, sent(5)), (2, sent(6)), (3, lost)]);
    let arrived = Event::MessageArrived {
        message: 5,
        text: from,
    };
    add(
        2,
        "server",
        &[(7, arrived), (9, Event::Marked { text: mark })],
    );
    let begins = (8, Event::FaultStarted { text: fault });
    add(
        3,
        "simulation",
        &[begins, (20, Event::FaultEnded { text: fault })],
    );

    let packets = packets(&recording);
    let tracks = packets.iter().filter_map(|packet| packet.message(60));
    let tracks: Vec<_> = tracks.collect();
    let processes: Vec<_> = tracks
        .iter()
        .filter_map(|track| Some((track.integer(1), track.message(3)?)))
        .map(|(track, process)| (process.integer(1).unwrap(), process.text(6), track))
        .collect();
    let names: Vec<_> = processes.iter().map(|(_, name, _)| name.as_str()).collect();
    assert_eq!(names, ["client", "server", "simulation"]);
    let threads = tracks.iter().filter_map(|track| track.message(4));
    let pids: Vec<_> = threads.map(|thread| thread.integer(1).unwrap()).collect();
    assert_eq!(pids, [processes[0].0, processes[1].0, processes[2].0]);
    let others: Vec<_> = tracks.iter().filter(|it| it.integer(5).is_some()).collect();
    let [faults] = others[..] else {
        panic!("{others:?}");
    };
    assert_eq!(
        (faults.text(2).as_str(), faults.integer(5)),
        (texts[2], processes[2].2)
    );

    let events = events(&recording);
    let shown: Vec<_> = events
        .iter()
        .map(|(time, kind, event)| match *kind {
            END => (*time, *kind, String::new()),
            _ => (*time, *kind, event.text(23)),
        })
        .collect();
    let expected = [
        (1, INSTANT, "send 4 bytes to server"),
        (2, INSTANT, "send 4 bytes to server"),
        (3, INSTANT, "lost: 4 bytes to server"),
        (7, INSTANT, "receive 4 bytes from client"),
        (8, BEGIN, "crash of server"),
        (9, INSTANT, "crash"),
        (20, END, ""),
    ];
    assert_eq!(
        shown,
        expected.map(|(time, kind, name)| (time, kind, name.to_owned()))
    );
    // The message that does not arrive has no arrow.
    let [arrow] = events[0].2.all(47)[..] else {
        panic!("{events:?}");
    };
    assert_eq!(events[3].2.all(48), [arrow]);
    assert!(events[1].2.all(47).is_empty());
    for event in [4, 6] {
        assert_eq!(events[event].2.integer(11), faults.integer(1));
    }
}
