//! Files without a thread for their calls: each call returns an error, and no data is lost.

use std::fs;
use std::future::Future;
use std::io::{self, SeekFrom};
use std::pin::pin;
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Waker};

use crate::common::current_thread;
use raddle::fs::{File, FileTimes, read_dir};
use raddle::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use raddle::runtime::Runtime;

/// A usable runtime, and one whose blocking threads cannot start, since their stacks are too large.
fn runtimes() -> (Runtime, Runtime) {
    let refusing = current_thread()
        .thread_stack_size(usize::MAX / 16 * 15)
        .build();
    let working = current_thread().max_blocking_threads(1).build();
    (working.unwrap(), refusing.unwrap())
}

#[track_caller]
fn assert_refused<T>(result: io::Result<T>) {
    let text = result.map(drop).unwrap_err().to_string();
    assert!(text.contains("no thread could be started"), "{text}");
}

/// A file of ten digits, of which three are read ahead and one is read.
fn read_ahead(runtime: &Runtime, directory: &tempfile::TempDir) -> File {
    let path = directory.path().join("file");
    fs::write(&path, "0123456789").unwrap();
    runtime.block_on(async {
        let mut file = File::options()
            .read(true)
            .write(true)
            .open(path)
            .await
            .unwrap();
        // The read is dropped while the only thread is busy.
        let (end, ended) = channel::<()>();
        raddle::task::spawn_blocking(move || ended.recv());
        let mut cx = Context::from_waker(Waker::noop());
        assert!(pin!(file.read(&mut [0; 4])).poll(&mut cx).is_pending());
        drop(end);
        assert_eq!(file.read_u8().await.unwrap(), b'0');
        file
    })
}

fn content(directory: &tempfile::TempDir) -> String {
    fs::read_to_string(directory.path().join("file")).unwrap()
}

#[test]
fn a_write_without_a_thread_is_an_error() {
    let (runtime, refusing) = runtimes();
    let directory = tempfile::tempdir().unwrap();
    let mut file = read_ahead(&runtime, &directory);
    refusing.block_on(async {
        assert_refused(file.write(b"lost").await);
        // The write was refused, so there is nothing to flush.
        file.flush().await.unwrap();
        assert_refused(file.write_all(b"lost").await);
        assert_refused(file.sync_all().await);
        assert_refused(file.sync_data().await);
        assert_refused(file.set_times(FileTimes::new()).await);
        assert_refused(file.try_clone().await);
        assert_refused(file.metadata().await);
    });
    assert_eq!(content(&directory), "0123456789");
    // The repeated write has the position of the refused one.
    runtime.block_on(async {
        file.write_all(b"x").await.unwrap();
        file.flush().await.unwrap();
    });
    assert_eq!(content(&directory), "0x23456789");
}

#[test]
fn bytes_read_ahead_survive_calls_that_get_no_thread() {
    let (runtime, refusing) = runtimes();
    let directory = tempfile::tempdir().unwrap();
    let mut file = read_ahead(&runtime, &directory);
    refusing.block_on(async {
        assert_refused(file.set_len(5).await);
        assert_refused(file.seek(SeekFrom::Current(2)).await);
        assert_refused(file.write(b"x").await);
        // A read from the buffer needs no thread.
        assert_eq!(file.read_u8().await.unwrap(), b'1');
        assert_refused(file.set_len(5).await);
        assert_eq!(file.read_u8().await.unwrap(), b'2');
        assert_eq!(file.read_u8().await.unwrap(), b'3');
        assert_refused(file.read_u8().await);
    });
    runtime.block_on(async {
        assert_eq!(file.read_u8().await.unwrap(), b'4');
        assert_eq!(file.stream_position().await.unwrap(), 5);
        file.set_len(6).await.unwrap();
        let mut rest = String::new();
        file.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "5");
    });
}

#[test]
fn a_file_works_in_another_runtime_after_a_shutdown() {
    let (runtime, _) = runtimes();
    let directory = tempfile::tempdir().unwrap();
    let mut file = read_ahead(&runtime, &directory);
    let handle = runtime.handle().clone();
    drop(runtime);
    {
        let _guard = handle.enter();
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..2 {
            let Poll::Ready(written) = pin!(file.write(b"x")).poll(&mut cx) else {
                panic!("the runtime has been shut down");
            };
            let text = written.unwrap_err().to_string();
            assert!(text.contains("shut down"), "{text}");
        }
    }
    let (runtime, _) = runtimes();
    runtime.block_on(async {
        file.write_all(b"x").await.unwrap();
        file.flush().await.unwrap();
    });
    assert_eq!(content(&directory), "0x23456789");
}

#[test]
fn reading_a_directory_continues_when_a_thread_is_available_again() {
    const ENTRIES: usize = 100;
    let (runtime, refusing) = runtimes();
    let directory = tempfile::tempdir().unwrap();
    for n in 0..ENTRIES {
        fs::write(directory.path().join(n.to_string()), "").unwrap();
    }
    let mut entries = runtime.block_on(read_dir(directory.path())).unwrap();
    let mut names = Vec::new();
    loop {
        match refusing.block_on(entries.next_entry()) {
            Ok(Some(entry)) => names.push(entry.file_name()),
            Ok(None) => break,
            refused => {
                assert_refused(refused);
                match runtime.block_on(entries.next_entry()).unwrap() {
                    Some(entry) => names.push(entry.file_name()),
                    None => break,
                }
            }
        }
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), ENTRIES);
}

#[test]
fn a_call_on_the_handle_of_a_dropped_runtime_returns_an_error() {
    let (runtime, _) = runtimes();
    let handle = runtime.handle().clone();
    drop(runtime);
    let error = handle.block_on(raddle::fs::read("x")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Other);
    assert_eq!(error.to_string(), "background task failed");
    let written = handle.block_on(async { raddle::io::stdout().write_all(b"x").await });
    assert!(raddle::runtime::is_rt_shutdown_err(&written.unwrap_err()));
}
