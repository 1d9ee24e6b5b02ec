//! Recordings of simulations.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use raddle::io::{AsyncReadExt as _, AsyncWriteExt as _};
use raddle::net::{TcpListener, TcpStream, UdpSocket};
use raddle::time::{sleep, timeout};
use raddle_recording::analysis::{AnalysisReport, message_times, polls};
use raddle_recording::{Entry, Event, Recording};
use raddle_sim::{Link, Sim, millis, secs};

use crate::seeds::mixed;

fn read(file: &Path) -> Recording {
    let recording = Recording::read_from(File::open(file).unwrap()).unwrap();
    assert!(!recording.is_truncated && recording.unknown == 0);
    recording
}

/// Runs a simulation with a recording.
fn record(seed: u64, build: impl FnOnce(&mut Sim)) -> (Result<(), String>, Recording) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("run.raddle");
    let mut sim = Sim::new(seed);
    build(&mut sim);
    sim.record_to(&file);
    let result = sim.try_run();
    (result, read(&file))
}

/// The entries of all threads of a process with a text, in the order of their times.
fn texts<'a>(recording: &'a Recording, process: &str) -> Vec<(Duration, Event, &'a str)> {
    let of_process = |(thread, entry): (u64, Entry)| {
        let text = match entry.event {
            Event::MessageSent { text, .. }
            | Event::MessageArrived { text, .. }
            | Event::MessageLost { text }
            | Event::FaultStarted { text }
            | Event::FaultEnded { text }
            | Event::Marked { text } => text,
            _ => return None,
        };
        let is_of_process = recording.threads[&thread].process == process;
        let time = Duration::from_nanos(entry.time);
        is_of_process.then(|| (time, entry.event, recording.text(text)))
    };
    recording
        .by_time()
        .into_iter()
        .filter_map(of_process)
        .collect()
}

/// The time of the only entry with a text.
#[track_caller]
fn time_of(recording: &Recording, process: &str, text: &str) -> Duration {
    let all = texts(recording, process);
    let found: Vec<_> = all.iter().filter(|(.., other)| *other == text).collect();
    match found[..] {
        [(time, ..)] => *time,
        _ => panic!("{} entries {text:?} in {all:?}", found.len()),
    }
}

#[track_caller]
fn assert_close(time: Duration, to: Duration) {
    // An entry is later by the number of those before it at the same time.
    let is_close = time.abs_diff(to) < Duration::from_micros(10);
    assert!(is_close, "{time:?} is not {to:?}");
}

#[test]
fn a_failing_program_leaves_hosts_messages_and_faults() {
    let (result, recording) = record(1, |sim| {
        sim.host("server", || async {
            let listener = TcpListener::bind("0.0.0.0:7").await?;
            loop {
                let (mut stream, _) = listener.accept().await?;
                raddle::spawn(async move {
                    let mut bytes = [0; 64];
                    while let n @ 1.. = stream.read(&mut bytes).await? {
                        stream.write_all(&bytes[..n]).await?;
                    }
                    std::io::Result::Ok(())
                });
            }
            #[allow(unreachable_code, reason = "it gives the type of the error")]
            std::io::Result::Ok(())
        });
        sim.client("user", async {
            sleep(secs(1)).await;
            let mut stream = TcpStream::connect("server:7").await?;
            stream.write_all(&[0; 33]).await?;
            stream.read_exact(&mut [0; 33]).await?;
            sleep(secs(2)).await;
            // The partition loses this.
            stream.write_all(&[0; 44]).await?;
            let mut bytes = [0; 44];
            let answer = timeout(secs(1), stream.read_exact(&mut bytes)).await;
            answer.expect("an answer").map(drop)
        });
        sim.at(secs(2)).partition("user", "server").for_(secs(10));
    });
    let failure = result.unwrap_err();
    assert!(failure.contains("an answer"), "{failure}");

    assert_eq!(recording.processes(), ["simulation", "server", "user"]);
    let mut names = BTreeMap::<_, BTreeSet<_>>::new();
    for thread in recording.threads.values() {
        let names = names.entry(thread.process.as_str()).or_default();
        assert!(names.insert(thread.name.as_str()), "{thread:?}");
    }
    for host in ["server", "user"] {
        assert!(names[host].is_superset(&["kernel", "worker 0", "worker 1"].into()));
    }

    // A message from the user to the server, and back, each after the latency of the link.
    let latency = Duration::from_micros(500);
    let sent = time_of(&recording, "user", "33 bytes to server");
    let arrived = time_of(&recording, "server", "33 bytes from user");
    assert_close(arrived, sent + latency);
    assert_close(time_of(&recording, "server", "33 bytes to user"), arrived);
    assert_close(
        time_of(&recording, "user", "33 bytes from server"),
        arrived + latency,
    );
    let by_time = recording.by_time();
    let mut sent = BTreeSet::new();
    let mut arrivals = 0;
    for (_, entry) in &by_time {
        match entry.event {
            Event::MessageSent { message, .. } => assert!(sent.insert(message)),
            Event::MessageArrived { message, .. } => {
                assert!(sent.remove(&message), "{entry:?}");
                arrivals += 1;
            }
            _ => {}
        }
    }
    assert_eq!(
        sent,
        BTreeSet::new(),
        "a message is neither lost nor arrives"
    );
    let ways = message_times(&recording);
    let ways: Vec<_> = ways.iter().map(|(way, _)| way.as_str()).collect();
    assert_eq!(ways, ["server to user", "user to server"]);
    assert!(arrivals >= 4, "{arrivals}");

    // The poll that sends a message is open on the track of the sending.
    let sending = |(thread, entry): &&(u64, Entry)| {
        let text = match entry.event {
            Event::MessageSent { text, .. } => recording.text(text),
            _ => "",
        };
        text == "33 bytes to server" && recording.threads[thread].name.starts_with("worker")
    };
    let (thread, entry) = by_time.iter().find(sending).unwrap();
    let is_around = |poll: &raddle_recording::analysis::Poll| {
        let end = poll.start + poll.duration.as_nanos() as u64;
        poll.thread == *thread && (poll.start..end).contains(&entry.time)
    };
    assert!(polls(&recording).iter().any(is_around));

    // The fault, what it loses, and the failure.
    let lost = texts(&recording, "user");
    let lost: Vec<_> = lost
        .iter()
        .filter(|(_, event, _)| matches!(event, Event::MessageLost { .. }))
        .collect();
    let (time, _, "44 bytes to server") = lost[0] else {
        panic!("{lost:?}");
    };
    assert!((secs(3)..secs(4)).contains(time), "{time:?}");
    let events = texts(&recording, "simulation");
    let [
        (begin, Event::FaultStarted { .. }, name),
        (end, Event::Marked { .. }, mark),
    ] = events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!(name, "partition of user and server");
    assert_close(begin, secs(2));
    assert!(
        mark.starts_with("failure: host \"user\" panicked: an answer"),
        "{mark}"
    );
    assert_close(end, *time + secs(1));

    let report = AnalysisReport::of(&recording).to_string();
    for text in [
        "partition of user and server begins",
        "== server ==",
        "user to server",
    ] {
        assert!(report.contains(text), "{report}");
    }
}

#[test]
fn a_recorded_run_makes_the_same_decisions() {
    let directory = tempfile::tempdir().unwrap();
    for seed in 0..8 {
        let run = |is_recorded| {
            let mut sim = Sim::new(seed);
            let file = directory.path().join(format!("{seed}.raddle"));
            if is_recorded {
                sim.record_to(&file);
            }
            mixed(&mut sim);
            assert_eq!(file.exists(), is_recorded);
            format!("{sim:?}")
        };
        let (plain, recorded) = (run(false), run(true));
        assert!(plain.contains("events"), "{plain}");
        assert_eq!(plain, recorded);
    }
}

#[test]
fn the_times_of_a_recording_are_those_of_the_simulation_in_one_order() {
    let (result, recording) = record(3, |sim| {
        sim.workers(1).client("user", async {
            for _ in 0..100 {
                raddle::task::yield_now().await;
            }
            sleep(secs(3_600)).await;
            raddle::spawn(async {
                loop {
                    sleep(millis(10)).await;
                }
            });
            raddle::task::block_in_place(|| std::thread::sleep(secs(1)));
            raddle::task::spawn_blocking(|| std::thread::sleep(secs(1)))
                .await
                .unwrap();
        });
        // Its clock does not change the times of the recording.
        sim.clock_ahead("user", secs(1_000))
            .clock_drift("user", 100_000);
    });
    result.unwrap();
    let times: Vec<_> = recording.by_time().iter().map(|(_, it)| it.time).collect();
    assert!(times.is_sorted_by(|one, other| one < other));
    // 3,602 s on a clock that is a tenth faster.
    let end = time_of(&recording, "simulation", "the clients have ended");
    assert_close(end, Duration::from_nanos(3_602_000_000_000 * 10 / 11));

    let polls = polls(&recording);
    assert!(
        polls
            .iter()
            .all(|poll| poll.is_finished && !poll.duration.is_zero())
    );
    let longest = polls.iter().map(|poll| poll.duration).max().unwrap();
    assert_close(longest, secs(1) * 10 / 11);
    // A spare worker ran the other task meanwhile.
    let during = |poll: &&raddle_recording::analysis::Poll| poll.duration == longest;
    let blocked = polls.iter().find(during).unwrap();
    let end = blocked.start + longest.as_nanos() as u64;
    let others = polls
        .iter()
        .filter(|poll| (blocked.start + 1..end).contains(&poll.start));
    let others = others.map(|poll| recording.threads[&poll.thread].name.as_str());
    let others: BTreeSet<_> = others.collect();
    assert!(
        !others.is_empty() && !others.contains("worker 0"),
        "{others:?}"
    );
}

/// Each message is on a track of its sender, then on one of its receiver.
fn assert_messages_are_on_tracks_of_their_hosts(recording: &Recording) {
    let mut senders = BTreeMap::new();
    for (thread, entry) in recording.by_time() {
        let process = &recording.threads[&thread].process;
        match entry.event {
            Event::MessageSent { message, text } => {
                senders.insert(message, (process, recording.text(text)));
            }
            Event::MessageArrived { message, text } => {
                let (sender, sent) = senders.remove(&message).unwrap();
                assert!(sent.ends_with(&format!(" to {process}")), "{sent}");
                let text = recording.text(text);
                assert!(text.ends_with(&format!(" from {sender}")), "{text}");
            }
            _ => {}
        }
    }
}

#[test]
fn what_a_kernel_sends_after_a_crash_is_on_the_track_of_its_host() {
    let (result, recording) = record(1, |sim| {
        sim.host("crashes", || sleep_forever(secs(3_600)));
        sim.host("refuses", || sleep_forever(secs(3_600)));
        sim.client("user", async {
            sleep(millis(999)).await;
            // It arrives just after the crash, and no host does anything meanwhile.
            TcpStream::connect("10.0.0.2:9").await.unwrap_err();
        });
        sim.at(Duration::from_micros(999_300)).crash("crashes");
    });
    result.unwrap();
    time_of(&recording, "refuses", "refusal to user");
    assert_messages_are_on_tracks_of_their_hosts(&recording);
}

#[test]
fn the_resets_of_a_killed_host_are_recorded() {
    let (result, recording) = record(1, |sim| {
        sim.host("server", || async {
            let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
            let _stream = listener.accept().await.unwrap();
            sleep_forever(secs(3_600)).await;
        });
        sim.client("user", async {
            sleep(millis(1)).await;
            let mut stream = TcpStream::connect("server:80").await.unwrap();
            stream.read_u8().await.unwrap_err();
        });
        sim.at(secs(1)).kill("server");
    });
    result.unwrap();
    let sent = time_of(&recording, "server", "reset to user");
    let arrived = time_of(&recording, "user", "reset from server");
    assert_close(arrived, sent + Duration::from_micros(500));
}

async fn sleep_forever(step: Duration) {
    loop {
        sleep(step).await;
    }
}

#[test]
fn polls_are_nested_on_each_track_through_crashes_and_blocking() {
    for seed in 0..8 {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("run.raddle");
        let mut sim = Sim::new(seed);
        mixed(sim.record_to(&file));
        let recording = read(&file);
        for thread in recording.threads.values() {
            let mut open = Vec::new();
            for entry in &thread.entries {
                match entry.event {
                    Event::PollStarted { task } => open.push(task),
                    Event::PollFinished { task, .. } => assert_eq!(open.pop(), Some(task)),
                    _ => {}
                }
            }
        }
        assert_messages_are_on_tracks_of_their_hosts(&recording);
        let starts = texts(&recording, "server");
        assert!(
            starts.iter().any(|(.., text)| *text == "crash"),
            "{starts:?}"
        );
    }
}

#[test]
fn datagrams_that_are_held_lost_or_come_twice_are_recorded() {
    let (result, recording) = record(5, |sim| {
        sim.host("server", || async {
            let socket = UdpSocket::bind("0.0.0.0:7").await?;
            let mut bytes = [0; 64];
            while let Ok(_received) = socket.recv(&mut bytes).await {}
            std::io::Result::Ok(())
        });
        sim.client("user", async {
            let socket = UdpSocket::bind("0.0.0.0:0").await?;
            for at in 1..100 {
                sleep(millis(10)).await;
                socket.send_to(&vec![0; at], "server:7").await?;
            }
            sleep(secs(1)).await;
            std::io::Result::Ok(())
        });
        sim.default_link(Link {
            loss: 0.3,
            duplication: 0.3,
            ..Link::default()
        });
        sim.at(millis(200)).hold("user", "server").for_(millis(100));
        sim.at(millis(500)).crash("server").for_(millis(100));
    });
    result.unwrap();
    let all = texts(&recording, "user");
    let count = |is_wanted: fn(&Event, &str) -> bool| {
        let wanted = all.iter().filter(|(_, event, text)| is_wanted(event, text));
        wanted.count()
    };
    assert!(count(|event, _| matches!(event, Event::MessageLost { .. })) > 10);
    assert!(count(|_, text| text.starts_with("hold datagram of ")) > 8);
    let sent = count(|event, _| matches!(event, Event::MessageSent { .. }));
    assert!(sent > 60, "{sent}");
    let at_server = texts(&recording, "server");
    let is_down = |(.., text): &&(_, _, &str)| text.ends_with("from user, the host is down");
    assert!(at_server.iter().filter(is_down).count() > 3);
}

#[test]
fn a_recording_that_cannot_be_written_is_an_error() {
    let mut sim = Sim::new(1);
    sim.client("user", async {});
    let error = sim.record_to("/no/such/directory/file").try_run();
    let error = error.unwrap_err();
    assert!(
        error.starts_with("the recording cannot be written to /no/such/directory/file: "),
        "{error}"
    );
}

/// Fails for some seeds.
#[raddle_sim::test(seeds = 100)]
#[should_panic(expected = "To record it for https://ui.perfetto.dev, add RADDLE_RECORDING=file.")]
fn the_message_of_a_failure_says_how_to_record_it(sim: &mut Sim) {
    fails_for_seed_7(sim);
}

fn fails_for_seed_7(sim: &mut Sim) {
    let seed = sim.seed();
    sim.client("user", async move { assert_ne!(seed, 7, "it is seven") });
    sim.run();
}

#[test]
fn a_seed_that_fails_is_recorded_if_the_environment_names_a_file() {
    let name = "recording::a_seed_that_fails_is_recorded_if_the_environment_names_a_file";
    let test = concat!(
        module_path!(),
        "::a_seed_that_fails_is_recorded_if_the_environment_names_a_file"
    );
    if std::env::var_os("RADDLE_RECORDING").is_some() {
        // The process that this test starts below, or one that runs seeds.
        return raddle_sim::check(test, 30, fails_for_seed_7);
    }
    let directory = tempfile::tempdir().unwrap();
    for seed in [None, Some("7")] {
        let file = directory.path().join(format!("{seed:?}.raddle"));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([name, "--exact", "--nocapture"]);
        command.env("RADDLE_RECORDING", &file);
        if let Some(seed) = seed {
            command.env("RADDLE_SEED", seed);
        }
        let output = command.output().unwrap();
        assert!(!output.status.success());
        let message = String::from_utf8(output.stderr).unwrap();
        let advice = format!("raddle-recording perfetto {} > trace", file.display());
        assert!(message.contains(&advice), "{message}");
        let recording = read(&file);
        let events = texts(&recording, "simulation");
        assert!(
            events.iter().any(|(.., text)| text.contains("it is seven")),
            "{events:?}"
        );
    }
}
