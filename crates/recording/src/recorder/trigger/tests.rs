use std::fs::File;

use super::*;
use crate::Event;
use crate::recorder::RecorderOptions;

/// The texts of the marks of the files of a directory, the oldest file first.
fn reasons(directory: &std::path::Path) -> Vec<String> {
    let files = fs::read_dir(directory).unwrap();
    let mut paths: Vec<_> = files.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let reason = |path: &PathBuf| {
        // A file that is being written.
        let recording = Recording::read_from(File::open(path).ok()?).ok()?;
        let by_time = recording.all_by_time();
        let mut latest = by_time.iter().rev();
        latest.find_map(|(_, entry)| match entry.event {
            Event::Marked { text } => Some(recording.text(text).to_owned()),
            _ => None,
        })
    };
    paths.iter().filter_map(reason).collect()
}

fn wait_for(directory: &std::path::Path, count: usize) -> Vec<String> {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        let found = reasons(directory);
        if found.len() >= count || Instant::now() >= end {
            return found;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn options(directory: &std::path::Path) -> TriggerOptions {
    let mut options = TriggerOptions::new(directory);
    options.min_interval = Duration::ZERO;
    options.signal = false;
    options
}

fn poll(recorder: &Recorder, task: u64, time: Duration) {
    recorder.record_poll(task);
    std::thread::sleep(time);
    recorder.record_poll_end(task, crate::PollEnd::Pending);
    recorder.end_poll();
}

#[test]
fn a_poll_that_is_slow_enough_writes_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(RecorderOptions::default());
    let mut options = options(directory.path());
    options.slow_poll = Some(Duration::from_millis(300));
    let triggers = Triggers::start(&recorder, options).unwrap();
    poll(&recorder, 1, Duration::from_millis(15));
    poll(&recorder, 2, Duration::from_millis(310));
    let reasons = wait_for(directory.path(), 1);
    assert_eq!(reasons.len(), 1);
    assert!(reasons[0].starts_with("trigger: poll of "), "{reasons:?}");
    drop(triggers);
    poll(&recorder, 3, Duration::from_millis(310));
    assert!(recorder.slow_polls().listeners.lock().is_empty());
}

#[test]
fn a_great_percentile_writes_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(RecorderOptions::default());
    for task in 1..200 {
        poll(&recorder, task, Duration::from_micros(100));
    }
    let mut options = options(directory.path());
    options.window = Duration::from_millis(50);
    options.delay_p99 = Some(Duration::from_micros(1));
    options.poll_p99 = Some(Duration::from_secs(1));
    let triggers = Triggers::start(&recorder, options.clone()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    // There are polls, none of which is long, and no delays.
    assert_eq!(reasons(directory.path()), [""; 0]);
    recorder.record(Event::TaskWoken { task: 7 });
    poll(&recorder, 7, Duration::ZERO);
    let found = wait_for(directory.path(), 1);
    assert!(
        found[0].contains("99th percentile of scheduling delays"),
        "{found:?}"
    );
    drop(triggers);
}

#[test]
fn files_are_limited_in_number_and_in_frequency() {
    let directory = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(RecorderOptions::default());
    let mut options = options(directory.path());
    options.max_files = 2;
    let triggers = Triggers::start(&recorder, options.clone()).unwrap();
    for count in 1..=4_usize {
        triggers.write(&format!("reason {count}"));
        let last = format!("trigger: reason {count}");
        let end = Instant::now() + Duration::from_secs(20);
        while reasons(directory.path()).last() != Some(&last) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    drop(triggers);
    assert_eq!(
        reasons(directory.path()),
        ["trigger: reason 3", "trigger: reason 4"]
    );

    options.min_interval = Duration::from_secs(3_600);
    let triggers = Triggers::start(&recorder, options).unwrap();
    triggers.write("first");
    assert_eq!(
        wait_for(directory.path(), 2).last().unwrap(),
        "trigger: reason 4"
    );
    let end = Instant::now() + Duration::from_secs(20);
    while reasons(directory.path()).last().unwrap() != "trigger: first" && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    triggers.write("too early");
    drop(triggers);
    assert_eq!(
        reasons(directory.path()),
        ["trigger: reason 4", "trigger: first"]
    );
}

#[test]
#[cfg(unix)]
fn a_signal_writes_a_file_even_if_all_other_threads_block_it() {
    use std::process::Command;

    const DIRECTORY: &str = "RADDLE_TEST_TRIGGER_DIRECTORY";
    if let Some(directory) = std::env::var_os(DIRECTORY) {
        // The shell of the parent cannot block signals; this thread and those that it starts do.
        block_user_signal();
        let recorder = Recorder::new(RecorderOptions::default());
        let mut options = TriggerOptions::new(&directory);
        options.min_interval = Duration::from_secs(3_600);
        let directory = std::path::Path::new(&directory);
        let triggers = Triggers::start(&recorder, options).unwrap();
        for count in 1..=2 {
            let process = rustix::process::getpid();
            rustix::process::kill_process(process, rustix::process::Signal::USR2).unwrap();
            assert_eq!(wait_for(directory, count), vec!["trigger: SIGUSR2"; count]);
        }
        drop(triggers);
        return;
    }
    // In a process of its own: the main thread of this one does not block the signal.
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "recorder::trigger::tests::a_signal_writes_a_file_even_if_all_other_threads_block_it",
        ])
        .arg("--test-threads=1")
        .env(DIRECTORY, directory.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}

#[cfg(unix)]
#[allow(unsafe_code, reason = "a mask of signals")]
fn block_user_signal() {
    // SAFETY: a `sigset_t` is plain data, and the calls below get pointers to a local variable.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGUSR2);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
    }
}
