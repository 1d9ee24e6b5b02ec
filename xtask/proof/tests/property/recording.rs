//! The file format of recordings: a written file is read back, and no file makes the reader panic.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use raddle_recording::{
    EndReason, Entry, Event, MonitorAction, PollResult, Record, Recording, StringId, Task, Thread,
    Writer,
};

const NUMBERS: u64 = 1 << 40;
const SMALL: u32 = 1 << 24;

fn string() -> impl Strategy<Value = StringId> {
    (0..SMALL).prop_map(|number| StringId::new(number).unwrap())
}

fn event() -> impl Strategy<Value = Event> {
    let task = || 0..NUMBERS;
    let result = prop_oneof![
        Just(PollResult::Pending),
        Just(PollResult::Rescheduled),
        Just(PollResult::Ended),
    ];
    let reason = prop_oneof![
        Just(EndReason::Completed),
        Just(EndReason::Cancelled),
        Just(EndReason::Panicked),
    ];
    let action = prop_oneof![
        Just(MonitorAction::HelpedWorker),
        Just(MonitorAction::TookNextTask),
        Just(MonitorAction::TookDriver),
        Just(MonitorAction::StartedSpare),
        Just(MonitorAction::LacksSpare),
    ];
    let tasks = prop_oneof![
        (task(), string()).prop_map(|(task, location)| Event::TaskSpawned { task, location }),
        (task(), string()).prop_map(|(task, name)| Event::TaskNamed { task, name }),
        task().prop_map(|task| Event::PollStarted { task }),
        (task(), result).prop_map(|(task, result)| Event::PollFinished { task, result }),
        task().prop_map(|task| Event::TaskWoken { task }),
        (task(), reason).prop_map(|(task, reason)| Event::TaskEnded { task, reason }),
    ];
    let workers = prop_oneof![
        any::<u32>().prop_map(|worker| Event::WorkerParked { worker }),
        any::<u32>().prop_map(|worker| Event::WorkerUnparked { worker }),
        any::<u32>().prop_map(|worker| Event::SearchStarted { worker }),
        (any::<u32>(), 0..SMALL).prop_map(|(victim, count)| Event::TasksStolen { victim, count }),
        Just(Event::DriverStarted),
        (0..SMALL, any::<u32>())
            .prop_map(|(events, timers)| Event::DriverFinished { events, timers }),
        (any::<u32>(), action).prop_map(|(worker, action)| Event::MonitorActed { worker, action }),
        any::<u32>().prop_map(|worker| Event::WorkerHandedOff { worker }),
        (any::<u32>(), 0..SMALL)
            .prop_map(|(worker, spare)| Event::SpareWorkerStarted { worker, spare }),
        any::<u32>().prop_map(|worker| Event::SpareWorkerStopped { worker }),
    ];
    let others = prop_oneof![
        any::<u32>().prop_map(|workers| Event::RuntimeStarted { workers }),
        Just(Event::RuntimeShutDown),
        task().prop_map(|job| Event::JobQueued { job }),
        task().prop_map(|job| Event::JobStarted { job }),
        task().prop_map(|job| Event::JobFinished { job }),
        task().prop_map(|nanos| Event::ThreadDelayed { nanos }),
        (any::<u32>(), 0..SMALL).prop_map(|(voluntary, involuntary)| Event::ContextSwitches {
            voluntary,
            involuntary
        }),
    ];
    let simulated = prop_oneof![
        (task(), string()).prop_map(|(message, text)| Event::MessageSent { message, text }),
        (task(), string()).prop_map(|(message, text)| Event::MessageArrived { message, text }),
        string().prop_map(|text| Event::MessageLost { text }),
        string().prop_map(|text| Event::FaultStarted { text }),
        string().prop_map(|text| Event::FaultEnded { text }),
        string().prop_map(|text| Event::Marked { text }),
    ];
    let application = prop_oneof![
        (task(), 0..SMALL).prop_map(|(task, tenths)| Event::TaskDelayed { task, tenths }),
        string().prop_map(|name| Event::SpanEntered { name }),
        string().prop_map(|name| Event::SpanLeft { name }),
        task().prop_map(|count| Event::RecordsLost { count }),
    ];
    prop_oneof![tasks, workers, others, simulated, application]
}

fn thread() -> impl Strategy<Value = Thread> {
    let entry = (any::<u64>(), event()).prop_map(|(time, event)| Entry { time, event });
    (
        any::<u64>(),
        any::<String>(),
        any::<String>(),
        any::<u64>(),
        vec(entry, 0..20),
    )
        .prop_map(|(os_id, name, process, lost, entries)| Thread {
            os_id,
            name,
            process,
            lost,
            rare: entries.iter().take(3).copied().collect(),
            rare_lost: lost / 2,
            entries,
        })
}

fn recording() -> impl Strategy<Value = Recording> {
    let known = (
        option::of(string()),
        option::of(string()),
        option::of(0..NUMBERS),
    );
    let known = known.prop_map(|(location, name, parent)| Task {
        location,
        name,
        parent,
    });
    (
        any::<u64>(),
        btree_map(string(), any::<String>(), 0..5),
        btree_map(any::<u64>(), thread(), 0..4),
        btree_map(0..NUMBERS, known, 0..4),
    )
        .prop_map(|(origin, strings, threads, tasks)| Recording {
            origin,
            strings,
            threads,
            tasks,
            ..Recording::default()
        })
}

fn bytes(recording: &Recording) -> Vec<u8> {
    let mut file = Vec::new();
    recording.write_to(&mut file).unwrap();
    file
}

/// Makes a file of format 1 with one chunk.
fn with_chunk(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut file = b"RADDLEFR\x01\x00\x00\x00".to_vec();
    file.push(tag);
    file.extend((content.len() as u32).to_le_bytes());
    file.extend(content);
    file
}

proptest! {
    #[test]
    fn a_record_has_the_event_that_it_is_made_of(time in 0..Record::TIMES, event in event()) {
        let record = Record::new(time, event);
        prop_assert_eq!((record.time(), record.event()), (time, Some(event)));
        prop_assert_eq!(Record::from_words(record.words()), record);
    }

    #[test]
    fn any_words_are_a_record(words in any::<[u64; 2]>()) {
        let record = Record::from_words(words);
        if let Some(event) = record.event() {
            // Bits that the event does not use are cleared.
            let again = Record::new(record.time(), event);
            prop_assert_eq!((again.time(), again.event()), (record.time(), Some(event)));
        }
    }

    #[test]
    fn a_written_recording_is_read_back(recording in recording()) {
        let file = bytes(&recording);
        prop_assert_eq!(Recording::read_from(&file[..]).unwrap(), recording);
    }

    #[test]
    fn pieces_are_read_as_one(recording in recording(), again in vec(thread(), 4)) {
        let mut second = recording.clone();
        for (thread, new) in second.threads.values_mut().zip(again) {
            thread.lost = new.lost / 2;
            thread.entries = new.entries;
        }
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file).unwrap();
        writer.append(&recording).unwrap();
        writer.append(&second).unwrap();
        let length = writer.bytes();
        prop_assert_eq!(length, file.len() as u64);

        let mut whole = recording;
        for (number, thread) in &mut whole.threads {
            let second = &second.threads[number];
            thread.lost = thread.lost.saturating_add(second.lost);
            thread.entries.extend(&second.entries);
            thread.rare_lost = thread.rare_lost.saturating_add(second.rare_lost);
            thread.rare.extend(&second.rare);
        }
        prop_assert_eq!(Recording::read_from(&file[..]).unwrap(), whole);
    }

    #[test]
    fn a_file_that_is_cut_off_is_read_up_to_there(recording in recording(), cut in any::<usize>()) {
        let file = bytes(&recording);
        let length = cut % file.len();
        match Recording::read_from(&file[..length]) {
            Ok(read) => {
                for (number, thread) in &read.threads {
                    prop_assert!(recording.threads[number].entries.starts_with(&thread.entries));
                }
            }
            Err(error) => prop_assert!(length < 12 && error.is_foreign()),
        }
    }

    #[test]
    fn damaged_files_are_read_or_refused(
        recording in recording(),
        at in any::<usize>(),
        byte in any::<u8>(),
    ) {
        let mut file = bytes(&recording);
        let index = at % file.len();
        file[index] = byte;
        let is_changed = file != bytes(&recording);
        // It must not panic, nor allocate memory for lengths beyond the file.
        if let Ok(read) = Recording::read_from(&file[..]) {
            prop_assert_eq!(read.damaged > 0, is_changed);
        }
    }

    #[test]
    fn any_chunk_is_read_or_refused(tag in 0..9_u8, content in vec(any::<u8>(), 0..64)) {
        match Recording::read_from(&with_chunk(tag, &content)[..]) {
            Ok(recording) => prop_assert!(!recording.is_truncated),
            Err(error) => prop_assert!(error.is_damaged()),
        }
    }
}
