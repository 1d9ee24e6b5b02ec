//! The functions of `std::fs`, awaited.

use std::collections::BTreeSet;
use std::io::ErrorKind;
#[cfg(unix)]
use std::path::Path;
use std::pin::pin;
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Waker};

use crate::common::each_flavor;
use raddle::fs;
use raddle::runtime::Builder;

fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn files_are_written_read_and_moved() {
    let root = tempfile::tempdir().unwrap();
    each_flavor(|runtime| {
        let (one, two) = (root.path().join("one"), root.path().join("two"));
        runtime.block_on(async {
            fs::write(&one, "ein\u{e4}").await.unwrap();
            assert_eq!(fs::read_to_string(&one).await.unwrap(), "ein\u{e4}");
            // Under Wine 8 a copy succeeds and returns 0 bytes, with std as well.
            let copied = std::fs::copy(&one, root.path().join("copied by std")).unwrap();
            assert!(copied == 5 || cfg!(windows));
            assert_eq!(fs::copy(&one, &two).await.unwrap(), copied);
            assert_eq!(fs::read(&two).await.unwrap().len(), 5);
            fs::remove_file(&one).await.unwrap();
            assert!(!fs::try_exists(&one).await.unwrap());
            fs::rename(&two, &one).await.unwrap();
            fs::hard_link(&one, &two).await.unwrap();
            assert_eq!(fs::metadata(&two).await.unwrap().len(), 5);
            let mut permissions = fs::metadata(&two).await.unwrap().permissions();
            permissions.set_readonly(true);
            fs::set_permissions(&two, permissions).await.unwrap();
            assert!(fs::metadata(&one).await.unwrap().permissions().readonly());
            let dotted = root.path().join(".").join("one");
            let expected = std::fs::canonicalize(&one).unwrap();
            assert_eq!(fs::canonicalize(dotted).await.unwrap(), expected);
            #[cfg(windows)]
            {
                // Wine 8 does not remove read-only files, like Windows before version 10.
                let mut permissions = fs::metadata(&one).await.unwrap().permissions();
                #[expect(clippy::permissions_set_readonly_false, reason = "on Windows only")]
                permissions.set_readonly(false);
                fs::set_permissions(&one, permissions).await.unwrap();
            }
            fs::remove_file(&one).await.unwrap();
            fs::remove_file(&two).await.unwrap();
            let error = fs::read(&one).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound);
        });
    });
}

#[cfg(unix)]
#[raddle::test]
async fn links_are_made_and_read() {
    let root = tempfile::tempdir().unwrap();
    let link = root.path().join("link");
    fs::symlink("nowhere", &link).await.unwrap();
    assert_eq!(fs::read_link(&link).await.unwrap(), Path::new("nowhere"));
    let metadata = fs::symlink_metadata(&link).await.unwrap();
    assert!(metadata.file_type().is_symlink());
    fs::metadata(&link).await.unwrap_err();
    assert!(!fs::try_exists(&link).await.unwrap());
}

#[raddle::test]
async fn directories_are_made_and_removed() {
    let root = tempfile::tempdir().unwrap();
    let deep = root.path().join("a/b/c");
    let error = fs::create_dir(&deep).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    fs::create_dir_all(&deep).await.unwrap();
    fs::create_dir(deep.join("d")).await.unwrap();
    fs::remove_dir(deep.join("d")).await.unwrap();
    fs::remove_dir(root.path().join("a")).await.unwrap_err();
    fs::remove_dir_all(root.path().join("a")).await.unwrap();

    let mut builder = fs::DirBuilder::new();
    builder.create(&deep).await.unwrap_err();
    builder.recursive(true);
    #[cfg(unix)]
    builder.mode(0o700);
    builder.create(&deep).await.unwrap();
    builder.create(&deep).await.unwrap();
    #[cfg(unix)]
    {
        let mode = fs::metadata(&deep).await.unwrap().permissions();
        let mode = std::os::unix::fs::PermissionsExt::mode(&mode);
        assert_eq!(mode & 0o777, 0o700);
    }
}

#[test]
fn each_entry_is_given_once() {
    let root = tempfile::tempdir().unwrap();
    let mut expected = BTreeSet::new();
    for n in 0..100 {
        let name = format!("entry {n}");
        std::fs::write(root.path().join(&name), "x").unwrap();
        expected.insert(name);
    }
    let runtime = Builder::new_current_thread()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    runtime.block_on(async {
        let mut entries = fs::read_dir(root.path()).await.unwrap();
        let mut seen = BTreeSet::new();
        loop {
            // Each read is dropped once while its call runs.
            let (end, ended) = channel::<()>();
            raddle::task::spawn_blocking(move || ended.recv());
            let entry = match poll_once(entries.next_entry()) {
                Poll::Ready(entry) => entry,
                Poll::Pending => {
                    drop(end);
                    entries.next_entry().await
                }
            };
            let Some(entry) = entry.unwrap() else { break };
            let name = entry.file_name().into_string().unwrap();
            assert_eq!(entry.path(), root.path().join(&name));
            assert!(seen.insert(name), "{entry:?} was returned twice");
        }
        assert_eq!(seen, expected);
        assert!(entries.next_entry().await.unwrap().is_none());

        let mut entries = fs::read_dir(root.path()).await.unwrap();
        let entry = entries.next_entry().await.unwrap().unwrap();
        assert!(entry.file_type().await.unwrap().is_file());
        assert_eq!(entry.metadata().await.unwrap().len(), 1);
        #[cfg(unix)]
        {
            let metadata = std::fs::metadata(entry.path()).unwrap();
            let ino = std::os::unix::fs::MetadataExt::ino(&metadata);
            assert_eq!(entry.ino(), ino);
        }
        fs::read_dir(root.path().join("none")).await.unwrap_err();
    });
}

/// The type was read with the entry, as on Tokio.
#[test]
fn the_type_of_an_entry_needs_no_runtime() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("folder")).unwrap();
    each_flavor(|runtime| {
        let entry = runtime.block_on(async {
            let mut entries = fs::read_dir(root.path()).await.unwrap();
            entries.next_entry().await.unwrap().unwrap()
        });
        let Poll::Ready(file_type) = poll_once(entry.file_type()) else {
            panic!("the type is not known yet");
        };
        assert!(file_type.unwrap().is_dir());
    });
}

#[test]
fn a_directory_continues_after_a_read_that_a_shutdown_cancelled() {
    let root = tempfile::tempdir().unwrap();
    for n in 0..100 {
        std::fs::write(root.path().join(n.to_string()), "").unwrap();
    }
    let runtime = || {
        let mut builder = Builder::new_current_thread();
        builder.max_blocking_threads(1).build().unwrap()
    };
    let first = runtime();
    let mut entries = first.block_on(fs::read_dir(root.path())).unwrap();
    let mut names = BTreeSet::new();
    let end = first.block_on(async {
        let (end, ended) = channel::<()>();
        raddle::task::spawn_blocking(move || ended.recv());
        while let Poll::Ready(entry) = poll_once(entries.next_entry()) {
            names.insert(entry.unwrap().unwrap().file_name());
        }
        end
    });
    first.shutdown_background();
    drop(end);
    runtime().block_on(async {
        entries.next_entry().await.unwrap_err();
        while let Some(entry) = entries.next_entry().await.unwrap() {
            assert!(names.insert(entry.file_name()));
        }
    });
    assert_eq!(names.len(), 100);
}

#[test]
fn a_runtime_that_has_shut_down_makes_no_call() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let handle = runtime.handle().clone();
    drop(runtime);
    let _guard = handle.enter();
    let Poll::Ready(Err(error)) = poll_once(fs::read("/dev/null")) else {
        panic!("the call was made");
    };
    assert_eq!(error.kind(), ErrorKind::Other);
}
