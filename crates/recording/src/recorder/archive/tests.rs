use std::path::Path;
use std::process::Command;

use raddle_primitives::sync::Mutex;

use crate::{Event, Recording};

use super::*;
use crate::recorder::RecorderOptions;

/// Returns the paths of the files of a directory, the oldest first.
fn paths(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Returns the jobs of the events in the files, in the order of the files.
fn jobs(directory: &Path) -> Vec<u64> {
    let mut jobs = Vec::new();
    let is_ours = |path: &PathBuf| path.extension().is_some_and(|name| name == "raddle");
    for name in paths(directory).into_iter().filter(is_ours) {
        let recording = Recording::read_from(File::open(name).unwrap()).unwrap();
        for (_, entry) in recording.by_time() {
            let Event::JobQueued { job } = entry.event else {
                panic!("{entry:?}");
            };
            jobs.push(job);
        }
    }
    jobs
}

fn files(recorder: &Recorder, options: &ArchiveOptions) -> Files {
    Files::new(recorder.follow(), options.clone()).unwrap()
}

#[test]
fn a_full_file_is_followed_by_another_and_the_oldest_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = ArchiveOptions::new(directory.path());
    options.max_file_bytes = 1;
    options.max_files = 3;
    let recorder = Recorder::new(RecorderOptions::default());
    let mut files = files(&recorder, &options);
    for job in 1..=5 {
        recorder.record(Event::JobQueued { job });
        files.write().unwrap();
    }
    assert_eq!(paths(directory.path()).len(), 3);
    assert_eq!(jobs(directory.path()), [3, 4, 5]);
}

#[test]
fn a_file_that_is_old_is_followed_by_another() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = ArchiveOptions::new(directory.path());
    options.max_file_age = Duration::ZERO;
    let recorder = Recorder::new(RecorderOptions::default());
    let mut files = files(&recorder, &options);
    recorder.record(Event::JobQueued { job: 1 });
    files.write().unwrap();
    assert_eq!(paths(directory.path()).len(), 2);
}

#[test]
fn an_archive_without_new_events_keeps_its_files() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = ArchiveOptions::new(directory.path());
    options.max_file_age = Duration::ZERO;
    options.max_files = 2;
    let recorder = Recorder::new(RecorderOptions::default());
    let mut files = files(&recorder, &options);
    recorder.record(Event::JobQueued { job: 1 });
    for _ in 0..5 {
        files.write().unwrap();
    }
    assert_eq!(jobs(directory.path()), [1]);
}

#[test]
fn a_file_with_room_takes_all_pieces() {
    let directory = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(RecorderOptions::default());
    let mut files = files(&recorder, &ArchiveOptions::new(directory.path()));
    for job in 1..=3 {
        recorder.record(Event::JobQueued { job });
        files.write().unwrap();
    }
    assert_eq!(paths(directory.path()).len(), 1);
    assert_eq!(jobs(directory.path()), [1, 2, 3]);
}

#[test]
fn files_of_an_earlier_archive_count_and_foreign_files_stay() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = ArchiveOptions::new(directory.path());
    options.max_files = 1;
    let foreign = ["recording-1.raddle", "recording-0000000000001.txt", "other"];
    for name in foreign
        .into_iter()
        .chain(["recording-0000000000001.raddle"])
    {
        fs::write(directory.path().join(name), "").unwrap();
    }
    drop(files(&Recorder::new(RecorderOptions::default()), &options));
    let paths = paths(directory.path());
    assert_eq!(paths.len(), 4, "{paths:?}");
    for name in foreign {
        assert!(paths.contains(&directory.path().join(name)), "{paths:?}");
    }
}

#[test]
fn a_clock_that_is_set_back_removes_no_newer_file() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = ArchiveOptions::new(directory.path());
    options.max_file_bytes = 1;
    options.max_files = 3;
    let recorder = Recorder::new(RecorderOptions::default());
    let mut last = 0;
    // Each archive is that of a process that starts after the clock was set.
    for clock in [|| 9_000_000_000_000, || 1_000_000_000_000, || 0] {
        let mut numbered = NumberedFiles::new(options.directory.clone(), options.prefix.clone());
        numbered.set_clock(clock);
        let mut files = Files::with(recorder.follow(), options.clone(), numbered).unwrap();
        drop(files.follower.read());
        for _ in 0..3 {
            last += 1;
            recorder.record(Event::JobQueued { job: last });
            files.write().unwrap();
        }
        assert_eq!(jobs(directory.path()), [last - 2, last - 1, last]);
    }
}

/// Writes pieces until a write fails, and then makes room. `files` have a limit of space that lets
/// some be written. Returns the jobs of the files before and after the failure.
fn fill(files: &mut Files, recorder: &Recorder, make_room: impl FnOnce()) -> [Vec<u64>; 2] {
    let directory = files.options.directory.clone();
    let mut job = 0;
    let mut record = |files: &mut Files| {
        for _ in 0..500 {
            job += 1;
            recorder.record(Event::JobQueued { job });
        }
        files.write()
    };
    let error = (0..1_000).find_map(|_| record(files).err());
    assert!(error.is_some(), "the space is not limited");
    let before = jobs(&directory);
    for _ in 0..50 {
        assert!(record(files).is_err());
        assert_eq!(jobs(&directory), before, "a file was changed or removed");
        let empty = |path: &PathBuf| fs::metadata(path).unwrap().len() < 100;
        assert!(
            !paths(&directory).iter().any(empty),
            "an empty file is left"
        );
    }
    make_room();
    files.write().unwrap();
    [before, jobs(&directory)]
}

/// Checks what [`fill`] returns, where the first of `removed` files were removed to make room.
fn check_filled(before: &[u64], after: &[u64]) {
    assert!(before.windows(2).all(|pair| pair[1] == pair[0] + 1));
    let last = before.last().unwrap();
    // The piece that failed first follows those that were written.
    assert!(
        after.contains(&(last + 1)),
        "{last} is not continued in {after:?}"
    );
}

/// The environment variable that has the directory of a child with limited files.
const LIMITED: &str = "RADDLE_TEST_LIMITED_FILES";

/// A recorder whose rings hold two pieces.
fn small_recorder() -> Recorder {
    Recorder::new(RecorderOptions {
        records_per_thread: 1_024,
        ..RecorderOptions::default()
    })
}

fn limited_options(directory: &Path) -> ArchiveOptions {
    let mut options = ArchiveOptions::new(directory);
    options.max_file_bytes = 20_000;
    options.max_files = 3;
    options
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_file_system_removes_no_file_and_is_used_again_when_there_is_room() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let mount = |arguments: &[&str]| Command::new("mount").args(arguments).arg(path).output();
    let mounted = mount(&["-t", "tmpfs", "-o", "size=80k", "tmpfs"]);
    if !mounted.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: only root can mount a small file system");
        return;
    }
    let result = std::panic::catch_unwind(|| {
        fs::write(path.join("other"), vec![0; 45_000]).unwrap();
        let recorder = small_recorder();
        let mut files = files(&recorder, &limited_options(path));
        let make_room = || fs::remove_file(path.join("other")).unwrap();
        let [before, after] = fill(&mut files, &recorder, make_room);
        check_filled(&before, &after);
    });
    let unmounted = Command::new("umount").arg(path).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

/// Sets the size that the system lets files of this process have.
#[cfg(unix)]
fn limit_files(bytes: Option<u64>) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limit = Rlimit {
        current: bytes,
        maximum: None,
    };
    setrlimit(Resource::Fsize, limit).unwrap();
}

/// The child of the test below, which lets it write files of at most 10 KiB.
#[test]
#[cfg(unix)]
fn limited_files_child() {
    let Some(directory) = std::env::var_os(LIMITED) else {
        return;
    };
    let directory = Path::new(&directory);
    const LIMIT: u64 = 10 << 10;
    limit_files(Some(LIMIT));
    let recorder = small_recorder();
    let mut files = files(&recorder, &limited_options(&directory.join("files")));
    let [before, after] = fill(&mut files, &recorder, || limit_files(None));
    check_filled(&before, &after);

    limit_files(Some(LIMIT));
    static ERRORS: Mutex<Vec<io::ErrorKind>> = Mutex::ranked(Rank::leaf("test errors"), Vec::new());
    let errors = || ERRORS.lock().len();
    let mut options = limited_options(&directory.join("archive"));
    options.interval = Duration::from_millis(1);
    options.on_error = Some(ErrorHandler::new(|error| {
        ERRORS.lock().push(error.kind());
    }));
    let archive = Archive::start(&recorder, options).unwrap();
    // A write that fails changes a file for a moment, and never beyond the limit.
    let beyond_limit = || -> u64 {
        let files = fs::read_dir(directory.join("archive")).unwrap();
        let lengths = files.map(|file| file.unwrap().metadata().map_or(0, |it| it.len()));
        lengths.map(|length| length.saturating_sub(LIMIT)).sum()
    };
    for outage in 1..=2 {
        let end = Instant::now() + Duration::from_secs(20);
        let mut job = 0;
        while errors() < outage && Instant::now() < end {
            job += 1;
            recorder.record(Event::JobQueued { job });
            thread::yield_now();
        }
        // More attempts fail.
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(errors(), outage, "each outage is reported once");
        let before = beyond_limit();
        limit_files(None);
        let end = Instant::now() + Duration::from_secs(20);
        while beyond_limit() == before && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        limit_files(Some(LIMIT));
    }
    assert_eq!(*ERRORS.lock(), [io::ErrorKind::FileTooLarge; 2]);
    limit_files(None);
    let error = archive.finish().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
}

#[test]
#[cfg(unix)]
fn a_write_that_fails_removes_no_file_and_is_reported_and_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let output = Command::new("sh")
        // Else the signal for a file that is too large ends the process.
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\""])
        .arg(program)
        .args([
            "--exact",
            "recorder::archive::tests::limited_files_child",
            "--nocapture",
        ])
        .env(LIMITED, directory.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}{log}");
    assert!(text.contains("1 passed"), "{text}");
    assert!(
        log.contains("the flight recorder cannot write to") || text.contains("cannot write to"),
        "{text}{log}"
    );
}

#[test]
fn an_archive_that_finishes_has_written_everything() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = ArchiveOptions::new(directory.path());
    options.interval = Duration::from_secs(3_600);
    let recorder = Recorder::new(RecorderOptions::default());
    let archive = Archive::start(&recorder, options).unwrap();
    recorder.record(Event::JobQueued { job: 1 });
    archive.finish().unwrap();
    assert_eq!(jobs(directory.path()), [1]);
}
