//! Open files: reads, writes, seeks, and futures that are dropped before they complete.

use std::fs;
use std::io::{ErrorKind, IoSlice, Read, SeekFrom};
use std::panic::UnwindSafe;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use crate::common::{each_flavor, panic_message};
use raddle::fs::{File, FileTimes, OpenOptions};
use raddle::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWrite, AsyncWriteExt,
    BufReader, BufStream, ReadBuf,
};
use raddle::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_current_thread()
        .max_blocking_threads(1)
        .build()
        .unwrap()
}

fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Keeps the only thread for blocking work busy until it is dropped.
fn busy() -> Sender<()> {
    let (end, ended) = channel();
    raddle::task::spawn_blocking(move || ended.recv());
    end
}

/// Polls a future once, and drops it before its call has run.
fn begin(future: impl Future) {
    let busy = busy();
    assert!(poll_once(future).is_pending());
    drop(busy);
}

/// A temporary directory with a file named `content`.
fn with_content(content: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("content");
    fs::write(&path, content).unwrap();
    (directory, path)
}

async fn open(path: &PathBuf) -> File {
    let mut options = File::options();
    options.read(true).write(true).open(path).await.unwrap()
}

async fn text(file: &mut File, n: usize) -> String {
    let mut buf = vec![0; n];
    file.read_exact(&mut buf).await.unwrap();
    String::from_utf8(buf).unwrap()
}

#[test]
fn written_bytes_are_read_back() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let (_directory, path) = with_content("former");
            let mut file = File::create(&path).await.unwrap();
            file.set_max_buf_size(7);
            assert_eq!(file.max_buf_size(), 7);
            let content: String = ('a'..='z').cycle().take(1000).collect();
            assert_eq!(file.write(content.as_bytes()).await.unwrap(), 7);
            file.write_all(&content.as_bytes()[7..]).await.unwrap();
            file.flush().await.unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);

            let mut file = File::open(&path).await.unwrap();
            file.set_max_buf_size(99);
            let mut all = String::new();
            assert_eq!(file.read_to_string(&mut all).await.unwrap(), 1000);
            assert_eq!(all, content);
            assert_eq!(file.read(&mut [0]).await.unwrap(), 0);
        });
    });
}

#[test]
fn a_write_after_a_read_ahead_starts_at_the_position_of_the_reader() {
    runtime().block_on(async {
        let (_directory, path) = with_content("0123456789");
        let mut file = open(&path).await;
        // The dropped future reads four bytes ahead.
        begin(file.read(&mut [0; 4]));
        file.metadata().await.unwrap();
        assert_eq!(text(&mut file, 1).await, "0");
        let pieces = [b"".as_slice(), b"a", b"bc"].map(IoSlice::new);
        assert!(file.is_write_vectored());
        assert_eq!(file.write_vectored(&pieces).await.unwrap(), 3);
        assert_eq!(text(&mut file, 2).await, "45");
        assert_eq!(fs::read_to_string(&path).unwrap(), "0abc456789");
    });
}

#[test]
fn a_relative_seek_starts_at_the_position_of_the_reader() {
    runtime().block_on(async {
        let (_directory, path) = with_content("0123456789");
        let mut file = open(&path).await;
        begin(file.read(&mut [0; 4]));
        file.metadata().await.unwrap();
        assert_eq!(text(&mut file, 1).await, "0");
        assert_eq!(file.stream_position().await.unwrap(), 1);
        assert_eq!(file.seek(SeekFrom::Current(2)).await.unwrap(), 3);
        assert_eq!(text(&mut file, 1).await, "3");
        assert_eq!(file.seek(SeekFrom::End(-1)).await.unwrap(), 9);
        assert_eq!(text(&mut file, 1).await, "9");
        let error = file.seek(SeekFrom::Current(-11)).await.unwrap_err();
        assert!(cfg!(windows) || error.kind() == ErrorKind::InvalidInput);
        // The next operation waits for a seek or a write whose future was dropped.
        begin(file.seek(SeekFrom::Start(4)));
        assert_eq!(file.seek(SeekFrom::Current(1)).await.unwrap(), 5);
        file.write_all(b"x").await.unwrap();
        assert_eq!(file.rewind().await.unwrap(), 0);
        assert_eq!(text(&mut file, 6).await, "01234x");
    });
}

#[test]
fn buffers_work_on_files() {
    runtime().block_on(async {
        let (_directory, path) = with_content("one\ntwo\nthree\n");
        let mut lines = BufReader::new(File::open(&path).await.unwrap()).lines();
        let mut count = 0;
        while lines.next_line().await.unwrap().is_some() {
            count += 1;
        }
        assert_eq!(count, 3);
        let mut stream = BufStream::new(open(&path).await);
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        stream.seek(SeekFrom::Current(-1)).await.unwrap();
        stream.write_all(b"+two+").await.unwrap();
        stream.rewind().await.unwrap();
        line.clear();
        stream.read_line(&mut line).await.unwrap();
        assert_eq!(line, "one+two+three\n");
    });
}

#[cfg(unix)]
#[test]
fn a_file_is_made_of_a_descriptor() {
    runtime().block_on(async {
        let (_directory, path) = with_content("abc");
        let descriptor = std::os::fd::OwnedFd::from(fs::File::open(&path).unwrap());
        assert_eq!(text(&mut File::from(descriptor), 3).await, "abc");
        let file = OpenOptions::default().read(true).open(&path).await;
        assert_eq!(text(&mut file.unwrap(), 3).await, "abc");
    });
}

#[test]
fn a_dropped_write_is_made() {
    let (_directory, path) = with_content("");
    runtime().block_on(async {
        let mut file = File::create(&path).await.unwrap();
        let busy = busy();
        file.write_all(b"abc").await.unwrap();
        // The second write waits for the first, and is dropped before it writes anything.
        assert!(poll_once(file.write(b"x")).is_pending());
        drop(file);
        drop(busy);
    });
    assert_eq!(fs::read_to_string(&path).unwrap(), "abc");
}

#[test]
fn a_write_is_made_though_the_runtime_shuts_down_before_it_begins() {
    let (_directory, path) = with_content("");
    let runtime = runtime();
    let handle = runtime.handle().clone();
    let (mut file, end) = runtime.block_on(async {
        let mut file = File::create(&path).await.unwrap();
        let busy = busy();
        file.write_all(b"abc").await.unwrap();
        (file, busy)
    });
    let shutdown = std::thread::spawn(move || drop(runtime));
    std::thread::sleep(Duration::from_millis(5));
    drop(end);
    shutdown.join().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "abc");

    let _guard = handle.enter();
    assert!(matches!(poll_once(file.flush()), Poll::Ready(Ok(()))));
    for call in [
        poll_once(file.write(b"d")).map_ok(drop),
        poll_once(file.read(&mut [0])).map_ok(drop),
        poll_once(file.rewind()).map_ok(drop),
        poll_once(file.sync_all()),
    ] {
        let Poll::Ready(Err(error)) = call else {
            panic!("the runtime has ended: {call:?}");
        };
        assert_eq!(error.kind(), ErrorKind::Other);
    }
    assert_eq!(file.try_into_std().unwrap().metadata().unwrap().len(), 3);
}

#[test]
fn the_error_of_a_write_is_returned_by_the_next_write_or_flush() {
    runtime().block_on(async {
        let (_directory, path) = with_content("0123");
        let mut file = File::open(&path).await.unwrap();
        assert_eq!(file.write(b"a").await.unwrap(), 1);
        file.flush().await.unwrap_err();
        file.flush().await.unwrap();
        assert_eq!(file.write(b"a").await.unwrap(), 1);
        file.write(b"b").await.unwrap_err();
        file.shutdown().await.unwrap();
        assert_eq!(text(&mut file, 2).await, "01");
    });
}

/// Calls the `n`th operation that returns a result; `None` after the last.
async fn operation(file: &mut File, n: usize) -> Option<std::io::Result<()>> {
    let result = match n {
        0 => file.read(&mut [0; 2]).await.map(drop),
        1 => file.write(b"b").await.map(drop),
        2 => file.flush().await,
        3 => file.shutdown().await,
        4 => file.seek(SeekFrom::Start(1)).await.map(drop),
        5 => file.read(&mut []).await.map(drop),
        6 => file.set_len(3).await,
        7 => file.metadata().await.map(drop),
        8 => file.try_clone().await.map(drop),
        9 => {
            let permissions = fs::metadata("/").unwrap().permissions();
            file.set_permissions(permissions).await
        }
        10 => file.set_times(FileTimes::new()).await,
        11 => file.set_modified(SystemTime::now()).await,
        12 => file.sync_all().await,
        13 => file.sync_data().await,
        _ => return None,
    };
    Some(result)
}

#[cfg(unix)]
#[test]
fn the_error_of_a_write_is_returned_by_the_next_operation() {
    runtime().block_on(async {
        let (_directory, path) = with_content("0123");
        for n in 0.. {
            // Not open for writing.
            let mut file = File::open(&path).await.unwrap();
            assert_eq!(file.write(b"a").await.unwrap(), 1);
            let Some(result) = operation(&mut file, n).await else {
                break;
            };
            assert_eq!(result.unwrap_err().raw_os_error(), Some(9), "operation {n}");
            file.flush().await.unwrap();
            assert_eq!(text(&mut file, 2).await, "01");
        }
    });
}

#[cfg(unix)]
#[test]
fn a_sync_fails_after_a_write_has_failed() {
    runtime().block_on(async {
        let (_directory, path) = with_content("0123");
        let mut file = File::open(&path).await.unwrap();
        file.sync_all().await.unwrap();
        assert_eq!(file.write(b"a").await.unwrap(), 1);
        assert_eq!(file.flush().await.unwrap_err().raw_os_error(), Some(9));
        for _ in 0..2 {
            assert_eq!(file.sync_all().await.unwrap_err().raw_os_error(), Some(9));
            assert_eq!(file.sync_data().await.unwrap_err().raw_os_error(), Some(9));
        }
        file.flush().await.unwrap();
        assert_eq!(file.metadata().await.unwrap().len(), 4);
        File::open(&path).await.unwrap().sync_all().await.unwrap();
    });
}

/// Bug: own (a sync returned the error of a write, and the next operation returned it again).
#[cfg(unix)]
#[test]
fn an_error_of_a_write_that_a_sync_has_returned_is_not_returned_again() {
    runtime().block_on(async {
        let (_directory, path) = with_content("0123");
        for data_only in [false, true] {
            let sync = async |file: &File| match data_only {
                true => file.sync_data().await,
                false => file.sync_all().await,
            };
            let mut file = File::open(&path).await.unwrap();
            assert_eq!(file.write(b"a").await.unwrap(), 1);
            // A sync that was dropped has returned no error.
            begin(sync(&file));
            file.metadata().await.unwrap_err();

            let mut file = File::open(&path).await.unwrap();
            assert_eq!(file.write(b"a").await.unwrap(), 1);
            assert_eq!(sync(&file).await.unwrap_err().raw_os_error(), Some(9));
            file.metadata().await.unwrap();
            assert_eq!(sync(&file).await.unwrap_err().raw_os_error(), Some(9));
            assert_eq!(text(&mut file, 2).await, "01");
            assert!(file.try_into_std().is_ok());
        }
    });
}

/// Polls the `n`th operation once and drops it; `None` after the last.
fn begin_operation(file: &mut File, n: usize) -> Option<bool> {
    let permissions = fs::metadata("/").unwrap().permissions();
    Some(match n {
        0 => poll_once(file.set_len(0)).is_pending(),
        1 => poll_once(file.sync_all()).is_pending(),
        2 => poll_once(file.sync_data()).is_pending(),
        3 => poll_once(file.metadata()).is_pending(),
        4 => poll_once(file.set_permissions(permissions)).is_pending(),
        5 => poll_once(file.set_times(FileTimes::new())).is_pending(),
        6 => poll_once(file.set_modified(SystemTime::now())).is_pending(),
        7 => poll_once(file.try_clone()).is_pending(),
        8 => poll_once(file.read(&mut [0; 4])).is_pending(),
        9 => poll_once(file.seek(SeekFrom::Start(0))).is_pending(),
        _ => return None,
    })
}

#[test]
fn an_operation_waits_for_one_that_was_dropped() {
    for n in 0.. {
        let (_directory, path) = with_content("0123456789");
        let ended = runtime().block_on(async {
            let mut file = open(&path).await;
            let busy = busy();
            let Some(is_pending) = begin_operation(&mut file, n) else {
                return true;
            };
            assert!(is_pending, "operation {n}");
            assert!(
                poll_once(file.write(b"hello")).is_pending(),
                "operation {n}"
            );
            assert!(poll_once(file.flush()).is_pending(), "operation {n}");
            drop(busy);
            file.write_all(b"hello").await.unwrap();
            file.flush().await.unwrap();
            false
        });
        if ended {
            break;
        }
        let rest = if n == 0 { "" } else { "56789" };
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("hello{rest}"));
    }
}

#[test]
fn a_dropped_set_len_keeps_the_position_of_the_reader() {
    runtime().block_on(async {
        let (_directory, path) = with_content("0123456789");
        let mut file = open(&path).await;
        begin(file.read(&mut [0; 6]));
        assert_eq!(text(&mut file, 1).await, "0");
        let busy = busy();
        assert!(poll_once(file.set_len(3)).is_pending());
        assert!(poll_once(file.read(&mut [0; 1])).is_pending());
        drop(busy);
        assert_eq!(text(&mut file, 2).await, "12");
        assert_eq!(file.read(&mut [0; 1]).await.unwrap(), 0);
    });
}

/// A file of ten digits, of which six are read ahead and one is read.
async fn read_ahead(path: &PathBuf) -> File {
    let mut file = open(path).await;
    begin(file.read(&mut [0; 6]));
    assert_eq!(text(&mut file, 1).await, "0");
    file
}

#[test]
fn bytes_read_ahead_are_given_back_to_std_s_file() {
    runtime().block_on(async {
        let (_directory, path) = with_content("0123456789");
        let mut all = String::new();
        let mut std = read_ahead(&path).await.into_std().await;
        std.read_to_string(&mut all).unwrap();
        assert_eq!(all, "123456789");
        let mut std = read_ahead(&path).await.try_into_std().unwrap();
        assert_eq!(std::io::Seek::stream_position(&mut std).unwrap(), 1);

        let mut file = read_ahead(&path).await;
        let mut clone = file.try_clone().await.unwrap();
        assert_eq!(text(&mut clone, 2).await, "12");
        assert_eq!(text(&mut file, 2).await, "34");
    });
}

#[cfg(unix)]
#[test]
fn a_descriptor_is_at_the_position_of_the_reader() {
    use std::os::fd::{AsFd, AsRawFd};
    runtime().block_on(async {
        let (_directory, path) = with_content("0123456789");
        let mut file = read_ahead(&path).await;
        let mut std = fs::File::from(file.as_fd().try_clone_to_owned().unwrap());
        assert_eq!(std::io::Seek::stream_position(&mut std).unwrap(), 1);
        assert_eq!(text(&mut file, 2).await, "12");

        // The read is under way, and its bytes are given back at its end.
        let busy = busy();
        assert!(poll_once(file.read(&mut [0; 4])).is_pending());
        assert_eq!(file.as_raw_fd(), file.as_raw_fd());
        drop(busy);
        file.metadata().await.unwrap();
        assert_eq!(std::io::Seek::stream_position(&mut std).unwrap(), 3);
        assert_eq!(text(&mut file, 7).await, "3456789");
    });
}

/// Polls a read of four bytes until it is ready, and calls `between` before each poll.
#[cfg(unix)]
async fn read_with(file: &mut File, between: impl Fn(&File)) -> String {
    let (mut bytes, mut polls) = ([0; 4], 0);
    let read = std::future::poll_fn(|cx| {
        polls += 1;
        assert!(polls < 10, "the read starves");
        between(file);
        // The call does not end before the poll.
        let _busy = busy();
        let mut buf = ReadBuf::new(&mut bytes);
        let read = Pin::new(&mut *file).poll_read(cx, &mut buf);
        read.map_ok(|()| buf.filled().len())
    });
    let n = read.await.unwrap();
    String::from_utf8(bytes[..n].to_vec()).unwrap()
}

/// Bug: own (a request for the descriptor dropped the bytes of a read whose caller still waited,
/// and the read began again).
#[cfg(unix)]
#[test]
fn a_read_ends_though_each_poll_asks_for_the_descriptor() {
    use std::os::fd::{AsFd, AsRawFd};
    runtime().block_on(async {
        let (_directory, path) = with_content("0123456789");
        let mut file = open(&path).await;
        let ask = |file: &File| {
            file.as_raw_fd();
        };
        assert_eq!(read_with(&mut file, ask).await, "0123");
        let mut std = fs::File::from(file.as_fd().try_clone_to_owned().unwrap());
        assert_eq!(std::io::Seek::stream_position(&mut std).unwrap(), 4);
        assert_eq!(read_with(&mut file, ask).await, "4567");
        assert_eq!(read_with(&mut file, ask).await, "89");
        assert_eq!(read_with(&mut file, ask).await, "");
    });
}

#[cfg(unix)]
#[test]
fn bytes_that_were_given_back_are_not_read_at_another_position() {
    use std::os::fd::{AsFd, AsRawFd};
    runtime().block_on(async {
        for n in 0..6 {
            let (_directory, path) = with_content("0123456789");
            let mut file = open(&path).await;
            let mut std = fs::File::from(file.as_fd().try_clone_to_owned().unwrap());
            begin(file.read(&mut [0; 4]));
            raddle::task::spawn_blocking(|| ()).await.unwrap();
            file.as_raw_fd();
            assert_eq!(std::io::Seek::stream_position(&mut std).unwrap(), 0);
            match n {
                0 => drop(std::io::Seek::seek(&mut std, SeekFrom::Start(2)).unwrap()),
                1 => std::io::Write::write_all(&mut std, b"ab").unwrap(),
                2 => file.write_all(b"ab").await.unwrap(),
                3 => drop(file.seek(SeekFrom::Current(2)).await.unwrap()),
                4 => {
                    let mut clone = file.try_clone().await.unwrap();
                    assert_eq!(text(&mut clone, 2).await, "01");
                }
                _ => {
                    file.set_len(0).await.unwrap();
                    file.write_all(b"ab2345").await.unwrap();
                    file.seek(SeekFrom::Start(2)).await.unwrap();
                }
            }
            assert_eq!(text(&mut file, 4).await, "2345", "case {n}");
            assert_eq!(std::io::Seek::stream_position(&mut std).unwrap(), 6);
        }
    });
}

/// Descriptors that accept a seek, which has no effect, with a value to read from each. A read of
/// one that is empty fails.
#[cfg(target_os = "linux")]
fn unmoved(n: usize) -> Option<File> {
    use rustix::{event, fs::inotify};
    let descriptor = match n {
        0 => event::eventfd(5, event::EventfdFlags::NONBLOCK).unwrap(),
        1 => {
            let (_directory, path) = with_content("");
            let watch = inotify::init(inotify::CreateFlags::NONBLOCK).unwrap();
            inotify::add_watch(&watch, &path, inotify::WatchFlags::DELETE_SELF).unwrap();
            watch
        }
        _ => return None,
    };
    Some(File::from(descriptor))
}

/// Bug: own (a descriptor whose seek has no effect lost what was read ahead).
#[cfg(target_os = "linux")]
#[test]
fn a_descriptor_whose_seek_has_no_effect_keeps_its_bytes_across_all_operations() {
    runtime().block_on(async {
        for kind in 0.. {
            for n in 0..7 {
                let Some(mut file) = unmoved(kind) else {
                    return;
                };
                begin(file.read(&mut [0; 64]));
                assert_eq!(file.read(&mut [0; 1]).await.unwrap(), 1);
                match n {
                    0 => {
                        std::os::fd::AsRawFd::as_raw_fd(&file);
                    }
                    1 => {
                        file.try_clone().await.unwrap();
                    }
                    2 => {
                        file.rewind().await.unwrap();
                    }
                    3 => {
                        file.seek(SeekFrom::Current(0)).await.unwrap();
                    }
                    4 => {
                        file.set_len(0).await.unwrap_err();
                    }
                    5 => file = file.try_into_std().unwrap_err(),
                    _ => {
                        file.write_all(&3_u64.to_ne_bytes()).await.unwrap();
                        let _ = file.flush().await;
                    }
                }
                let mut rest = [0; 7];
                file.read_exact(&mut rest).await.unwrap();
            }
        }
    });
}

/// Bug: own (bytes that were read ahead made every write fail after another handle had moved the
/// descriptor to the start).
#[test]
fn a_descriptor_that_another_handle_has_moved_stays_there() {
    runtime().block_on(async {
        for n in 0..3 {
            let (_directory, path) = with_content("0123456789");
            let mut file = open(&path).await;
            let mut other = file.try_clone().await.unwrap();
            begin(file.read(&mut [0; 6]));
            assert_eq!(text(&mut file, 1).await, "0");
            other.rewind().await.unwrap();
            match n {
                0 => {
                    file.write_all(b"ab").await.unwrap();
                    file.flush().await.unwrap();
                    assert_eq!(text(&mut file, 2).await, "23");
                    assert_eq!(fs::read_to_string(&path).unwrap(), "ab23456789");
                }
                1 => {
                    file.rewind().await.unwrap();
                    assert_eq!(text(&mut file, 2).await, "01");
                }
                _ => {
                    let mut all = String::new();
                    let mut std = file.try_into_std().unwrap();
                    std.read_to_string(&mut all).unwrap();
                    assert_eq!(all, "0123456789");
                }
            }
        }
    });
}

/// A pipe that is open for reading and writing, and through which three bytes come.
#[cfg(target_os = "linux")]
fn fifo() -> File {
    use std::os::fd::AsRawFd;
    let (reading, writing) = rustix::pipe::pipe().unwrap();
    std::io::Write::write_all(&mut fs::File::from(writing), b"abc").unwrap();
    let path = format!("/proc/self/fd/{}", reading.as_raw_fd());
    File::from(
        fs::File::options()
            .read(true)
            .write(true)
            .open(path)
            .unwrap(),
    )
}

#[cfg(target_os = "linux")]
#[test]
fn a_pipe_keeps_its_bytes_across_all_operations() {
    runtime().block_on(async {
        for n in 0.. {
            let mut file = fifo();
            begin(file.read(&mut [0; 8]));
            assert_eq!(text(&mut file, 1).await, "a");
            match n {
                0 => {
                    file.write_all(b"de").await.unwrap();
                    file.flush().await.unwrap();
                }
                1 => {
                    let error = file.seek(SeekFrom::Current(0)).await.unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::NotSeekable);
                }
                2 => {
                    file.rewind().await.unwrap_err();
                }
                3 => {
                    file.set_len(0).await.unwrap_err();
                }
                4 => {
                    file.try_clone().await.unwrap();
                }
                5 => {
                    std::os::fd::AsRawFd::as_raw_fd(&file);
                }
                6 => file = file.try_into_std().unwrap_err(),
                _ => break,
            }
            assert_eq!(text(&mut file, 2).await, "bc", "operation {n}");
            if n == 0 {
                assert_eq!(text(&mut file, 2).await, "de");
            }
            assert!(file.try_into_std().is_ok());
        }
    });
}

#[test]
fn a_failed_seek_keeps_the_position_of_the_reader() {
    runtime().block_on(async {
        let (_directory, path) = with_content("0123456789");
        let mut file = read_ahead(&path).await;
        file.seek(SeekFrom::Current(-5)).await.unwrap_err();
        assert_eq!(file.stream_position().await.unwrap(), 1);
        assert_eq!(text(&mut file, 2).await, "12");
        assert!(file.seek(SeekFrom::Current(i64::MIN)).await.is_err());
        assert_eq!(text(&mut file, 2).await, "34");
    });
}

#[test]
fn the_position_is_known_without_a_seek() {
    runtime().block_on(async {
        let (_directory, path) = with_content("0123456789");
        let mut std = fs::File::open(&path).unwrap();
        std::io::Seek::seek(&mut std, SeekFrom::Start(4)).unwrap();
        let mut file = File::from_std(std);
        let position = async |file: &mut File| {
            std::future::poll_fn(|cx| Pin::new(&mut *file).poll_complete(cx))
                .await
                .unwrap()
        };
        assert_eq!(position(&mut file).await, 4);
        begin(file.read(&mut [0; 4]));
        assert_eq!(text(&mut file, 1).await, "4");
        assert_eq!(position(&mut file).await, 5);
        assert_eq!(text(&mut file, 3).await, "567");
        assert_eq!(position(&mut file).await, 8);
    });
}

#[test]
fn a_file_with_the_error_of_a_write_is_not_converted_without_it() {
    runtime().block_on(async {
        let (_directory, path) = with_content("0123456789");
        let mut file = File::open(&path).await.unwrap();
        let busy = busy();
        file.write_all(b"x").await.unwrap();
        let file = file.try_into_std().unwrap_err();
        drop(busy);
        raddle::task::spawn_blocking(|| ()).await.unwrap();
        let mut file = file.try_into_std().unwrap_err();
        file.flush().await.unwrap_err();
        assert!(file.try_into_std().is_ok());
    });
}

#[test]
fn a_seek_does_not_start_before_a_poll_has_seen_the_end_of_a_write() {
    runtime().block_on(async {
        let (_directory, path) = with_content("");
        let mut file = open(&path).await;
        file.write_all(b"abc").await.unwrap();
        raddle::task::spawn_blocking(|| ()).await.unwrap();
        let mut start = || Pin::new(&mut file).start_seek(SeekFrom::Start(1));
        assert_eq!(start().unwrap_err().kind(), ErrorKind::Other);
        file.flush().await.unwrap();
        Pin::new(&mut file).start_seek(SeekFrom::Start(1)).unwrap();
        assert_eq!(text(&mut file, 2).await, "bc");
    });
}

#[test]
fn results_of_dropped_operations_are_not_returned_later() {
    runtime().block_on(async {
        let (_directory, path) = with_content("");
        let mut file = open(&path).await;
        // The dropped read finds the end.
        begin(file.read(&mut [0; 4]));
        file.write_all(b"abc").await.unwrap();
        file.flush().await.unwrap();
        begin(file.seek(SeekFrom::Start(1)));
        assert_eq!(text(&mut file, 2).await, "bc");
        assert_eq!(file.stream_position().await.unwrap(), 3);
    });
}

/// The test checks the memory of its process, which runs no other test.
#[cfg(target_os = "linux")]
#[test]
fn open_files_keep_no_buffers() {
    crate::common::own_process::in_own_process("fs_file::open_files_keep_no_buffers", || {
        let resident = || {
            let statm = fs::read_to_string("/proc/self/statm").unwrap();
            let pages = statm.split(' ').nth(1).unwrap();
            pages.parse::<usize>().unwrap() * 4096
        };
        runtime().block_on(async {
            const SIZE: usize = 1 << 20;
            let (directory, path) = with_content("0123456789");
            let long = directory.path().join("long");
            fs::write(&long, vec![7; SIZE]).unwrap();
            let mut buf = vec![1; 2 * SIZE];
            let before = resident();
            let mut files = Vec::new();
            for n in 0..200 {
                let mut file = open(if n % 2 == 0 { &path } else { &long }).await;
                assert!(file.read(&mut buf).await.unwrap() >= 10);
                if n % 4 == 3 {
                    file.write_all(&buf[..SIZE]).await.unwrap();
                    file.flush().await.unwrap();
                    file.set_len(SIZE as u64).await.unwrap();
                }
                files.push(file);
            }
            let kept = resident().saturating_sub(before);
            assert!(kept < 100 << 20, "{} MiB", kept >> 20);
        });
    });
}

#[test]
fn operations_that_do_not_wait_take_from_the_budget() {
    runtime().block_on(async {
        let (_directory, path) = with_content("0123456789");
        let mut file = open(&path).await;
        let other = raddle::spawn(async {});
        while !other.is_finished() {
            file.flush().await.unwrap();
        }
        let other = raddle::spawn(async {});
        while !other.is_finished() {
            assert_eq!(file.read(&mut []).await.unwrap(), 0);
        }
    });
}

#[test]
fn the_methods_of_std_s_file_exist() {
    runtime().block_on(async {
        let (directory, path) = with_content("0123456789");
        let mut file = open(&path).await;
        file.write_all(b"ab").await.unwrap();
        file.sync_data().await.unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "ab23456789");

        // `set_len` removes bytes that were read ahead.
        begin(file.read(&mut [0; 6]));
        file.metadata().await.unwrap();
        assert_eq!(text(&mut file, 1).await, "2");
        file.set_len(5).await.unwrap();
        let mut rest = String::new();
        file.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "34");

        file.set_max_buf_size(100);
        let mut clone = file.try_clone().await.unwrap();
        assert_eq!(clone.max_buf_size(), 100);
        assert_eq!(clone.stream_position().await.unwrap(), 5);
        assert_eq!(file.metadata().await.unwrap().len(), 5);
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        file.set_modified(time).await.unwrap();
        assert_eq!(file.metadata().await.unwrap().modified().unwrap(), time);
        file.set_times(FileTimes::new().set_accessed(time))
            .await
            .unwrap();
        assert_eq!(file.metadata().await.unwrap().accessed().unwrap(), time);
        let mut permissions = file.metadata().await.unwrap().permissions();
        permissions.set_readonly(true);
        file.set_permissions(permissions).await.unwrap();
        assert!(fs::metadata(&path).unwrap().permissions().readonly());

        let new = directory.path().join("new");
        File::create_new(&new).await.unwrap();
        let error = File::create_new(&new).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        let error = OpenOptions::new()
            .read(true)
            .open("/nowhere")
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let mut log = OpenOptions::from(fs::File::options().append(true).clone());
        let mut log = log.create(true).open(&new).await.unwrap();
        log.write_all(b"log").await.unwrap();
        log.flush().await.unwrap();
        assert_eq!(fs::read(&new).unwrap(), b"log");
    });
}

#[test]
fn a_file_converts_into_one_of_std() {
    runtime().block_on(async {
        let (_directory, path) = with_content("");
        let mut file = open(&path).await;
        file.write_all(b"abc").await.unwrap();
        let busy = busy();
        assert!(poll_once(file.metadata()).is_pending());
        let file = file.try_into_std().unwrap_err();
        drop(busy);
        let mut std = file.into_std().await;
        std::io::Seek::rewind(&mut std).unwrap();
        let mut all = String::new();
        std.read_to_string(&mut all).unwrap();
        assert_eq!(all, "abc");
        let file = File::from(std);
        assert_eq!(file.metadata().await.unwrap().len(), 3);
    });
}

#[test]
fn all_waiters_for_a_write_are_woken() {
    Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(1)
        .build()
        .unwrap()
        .block_on(async {
            let (_directory, path) = with_content("");
            let mut file = open(&path).await;
            let busy = busy();
            file.write_all(b"abc").await.unwrap();
            let file = Arc::new(file);
            let tasks: Vec<_> = (0..8)
                .map(|_| {
                    let file = Arc::clone(&file);
                    raddle::spawn(async move { file.sync_all().await })
                })
                .collect();
            raddle::task::yield_now().await;
            drop(busy);
            for task in tasks {
                task.await.unwrap().unwrap();
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), "abc");
        });
}

#[test]
fn operations_of_many_tasks_are_made_one_after_the_other() {
    runtime().block_on(async {
        let (_directory, path) = with_content("abc");
        let file = Arc::new(open(&path).await);
        let tasks: Vec<_> = (0..2000)
            .map(|n| {
                let file = Arc::clone(&file);
                let task = raddle::spawn(async move { file.metadata().await.unwrap().len() });
                if n % 7 == 0 {
                    task.abort();
                }
                task
            })
            .collect();
        for (n, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await.ok(), (n % 7 != 0).then_some(3));
        }
    });
}

#[test]
fn a_call_outside_a_runtime_leaves_the_file_as_it_was() {
    let (_directory, path) = with_content("0123456789");
    let mut file = runtime().block_on(read_ahead(&path));
    panic_message(|| poll_once(file.write(b"x")));
    panic_message(|| poll_once(file.set_len(0)));
    runtime().block_on(async {
        file.flush().await.unwrap();
        assert_eq!(text(&mut file, 9).await, "123456789");
    });
}

#[test]
fn a_buffer_size_of_zero_is_refused() {
    let mut file = File::from_std(tempfile::tempfile().unwrap());
    let message = panic_message(|| file.set_max_buf_size(0));
    assert!(message.contains("set it to 1 or more"), "{message}");
}

#[test]
fn files_can_be_sent_and_shared() {
    fn check<T: Send + Sync + Unpin>(_: &T) {}
    fn check_future<T: Send + Sync + UnwindSafe>(_: &T) {}
    let file = File::from_std(tempfile::tempfile().unwrap());
    check(&file);
    check(&OpenOptions::new());
    check_future(&file.set_len(1));
    check_future(&file.sync_all());
    check_future(&file.metadata());
    check_future(&file.try_clone());
    check_future(&file.into_std());
    check_future(&raddle::fs::read("file"));
    check_future(&raddle::fs::read_dir("directory"));
}

/// The error has the system's error code, not only its kind, even after another call.
#[cfg(target_os = "linux")]
#[test]
fn the_error_of_a_write_keeps_its_cause() {
    runtime().block_on(async {
        let mut full = OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .await
            .unwrap();
        full.write_all(b"x").await.unwrap();
        begin(full.sync_all());
        let error = full.flush().await.unwrap_err();
        assert_eq!(error.raw_os_error(), Some(28), "{error}");
        full.flush().await.unwrap();
        let error = full.sync_all().await.unwrap_err();
        assert_eq!(error.raw_os_error(), Some(28), "{error}");
    });
}
