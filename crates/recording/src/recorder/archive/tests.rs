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
    for name in paths(directory) {
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
#[cfg_attr(
    windows,
    ignore = "Windows does not remove a directory with an open file"
)]
fn an_error_is_reported_and_the_next_piece_goes_to_a_new_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("files");
    let recorder = Recorder::new(RecorderOptions::default());
    let mut files = files(&recorder, &ArchiveOptions::new(&path));
    fs::remove_dir_all(&path).unwrap();
    files.open = None;
    recorder.record(Event::JobQueued { job: 1 });
    assert_eq!(files.write().unwrap_err().kind(), io::ErrorKind::NotFound);
    fs::create_dir(&path).unwrap();
    recorder.record(Event::JobQueued { job: 2 });
    files.write().unwrap();
    assert_eq!(jobs(&path), [2]);
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
