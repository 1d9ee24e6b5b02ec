//! The disks of hosts: what survives a restart and a crash, and faults.

use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use raddle::time::sleep;
use raddle_sim::{Sim, millis, secs};

/// Two hosts that run until the client has ended, and a client that does nothing for a minute.
fn with_host<T>(sim: &mut Sim, main: impl Fn() -> T + Send + Sync + 'static)
where
    T: Future<Output = std::io::Result<()>> + Send + 'static,
{
    sim.host("db", main);
    sim.client("client", async { sleep(secs(60)).await });
}

#[test]
fn hosts_have_files_of_their_own_and_the_machine_has_none_of_them() {
    let path = "/var/lib/raddle-sim-test/data.txt";
    let mut sim = Sim::new(1);
    for name in ["one", "two"] {
        sim.client(name, async move {
            assert_eq!(std::fs::read(path).unwrap_err().kind(), ErrorKind::NotFound);
            raddle::fs::create_dir_all(Path::new(path).parent().unwrap()).await?;
            raddle::fs::write(path, name).await?;
            sleep(secs(1)).await;
            assert_eq!(raddle::fs::read_to_string(path).await?, name);
            assert_eq!(std::fs::metadata(path)?.len(), 3);
            assert_eq!(std::fs::canonicalize(path)?, Path::new(path));
            let names = std::fs::read_dir("/var/lib/raddle-sim-test")?;
            let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(names, ["data.txt"]);
            std::fs::rename(path, "/var/lib/raddle-sim-test/other")?;
            assert!(!Path::new(path).exists());
            std::fs::remove_dir_all("/var/lib/raddle-sim-test")?;
            assert!(!Path::new("/var/lib/raddle-sim-test").exists());
            std::io::Result::Ok(())
        });
    }
    sim.run();
    assert!(!Path::new("/var/lib/raddle-sim-test").exists());
}

#[test]
fn a_file_of_the_machine_is_copied_when_a_host_changes_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config");
    std::fs::write(&path, "as it was").unwrap();
    let theirs = path.clone();
    let mut sim = Sim::new(1);
    sim.client("client", async move {
        assert_eq!(std::fs::read_to_string(&theirs)?, "as it was");
        let mut file = std::fs::OpenOptions::new().append(true).open(&theirs)?;
        file.write_all(b", and more")?;
        assert_eq!(std::fs::read_to_string(&theirs)?, "as it was, and more");
        std::io::Result::Ok(())
    });
    sim.run();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "as it was");
}

/// Runs a host that writes a file in its first life, crashes, and sees what is left in its second.
fn left_after_a_crash(seed: u64, syncs: bool) -> Option<Vec<u8>> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let lives = std::sync::Arc::new(AtomicU32::new(0));
    let mut sim = Sim::new(seed);
    with_host(&mut sim, move || {
        let (sender, lives) = (sender.clone(), lives.clone());
        async move {
            if lives.fetch_add(1, Ordering::Relaxed) == 0 {
                let mut file = std::fs::File::create("/log")?;
                file.write_all(&[1; 2048])?;
                file.sync_all()?;
                file.write_all(&[2; 2048])?;
                if syncs {
                    file.sync_data()?;
                }
                std::fs::write("/other", "x")?;
            } else {
                let other = std::fs::read("/other").ok();
                assert!(
                    other.is_none_or(|other| other.is_empty() || other == b"x" || other == [0])
                );
                sender.send(std::fs::read("/log").ok()).unwrap();
            }
            Ok(())
        }
    });
    sim.at(secs(1)).crash("db").for_(secs(1));
    sim.run();
    receiver.recv().unwrap()
}

#[test]
fn what_was_synced_survives_a_crash() {
    for seed in 0..20 {
        let left = left_after_a_crash(seed, true).unwrap();
        assert_eq!(left, [[1; 2048], [2; 2048]].concat());
    }
}

#[test]
fn what_was_not_synced_is_lost_in_whole_or_in_part_or_kept() {
    let (mut kept, mut lost, mut torn) = (0, 0, 0);
    for seed in 0..60 {
        let left = left_after_a_crash(seed, false).unwrap();
        assert_eq!(left[..2048], [1; 2048]);
        match &left[2048..] {
            [] => lost += 1,
            rest if rest == [2; 2048] => kept += 1,
            rest => {
                assert!(rest.iter().all(|byte| *byte == 0 || *byte == 2));
                assert!(
                    rest.chunks(512)
                        .all(|sector| sector.iter().all(|byte| byte == &sector[0]))
                );
                torn += 1;
            }
        }
    }
    assert!(kept > 5 && lost > 5 && torn > 5, "{kept} {lost} {torn}");
    assert_eq!(left_after_a_crash(7, false), left_after_a_crash(7, false));
}

#[test]
fn a_rename_that_was_not_synced_leaves_the_old_or_the_new_file() {
    let (mut old, mut new) = (0, 0);
    for seed in 0..30 {
        let (sender, receiver) = std::sync::mpsc::channel();
        let lives = std::sync::Arc::new(AtomicU32::new(0));
        let mut sim = Sim::new(seed);
        with_host(&mut sim, move || {
            let (sender, lives) = (sender.clone(), lives.clone());
            async move {
                if lives.fetch_add(1, Ordering::Relaxed) == 0 {
                    for (name, text) in [("/state", "old"), ("/state.new", "new")] {
                        let mut file = std::fs::File::create(name)?;
                        file.write_all(text.as_bytes())?;
                        file.sync_all()?;
                    }
                    std::fs::rename("/state.new", "/state")?;
                } else {
                    sender.send(std::fs::read_to_string("/state")?).unwrap();
                }
                Ok(())
            }
        });
        sim.at(secs(1)).crash("db").for_(secs(1));
        sim.run();
        match receiver.recv().unwrap().as_str() {
            "old" => old += 1,
            "new" => new += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(old > 3 && new > 3, "{old} {new}");
}

#[test]
fn a_crash_in_the_middle_of_a_call_is_no_failure_of_the_host() {
    let lives = std::sync::Arc::new(AtomicU32::new(0));
    let counted = lives.clone();
    let mut sim = Sim::new(1);
    with_host(&mut sim, move || {
        lives.fetch_add(1, Ordering::Relaxed);
        async {
            // It blocks a thread until the host has crashed, and fails then.
            std::fs::write("/data", "text")?;
            std::future::pending().await
        }
    });
    sim.at(secs(0)).slow_disk("db", secs(2)).for_(secs(3));
    sim.at(secs(1)).crash("db").for_(secs(3));
    sim.run();
    assert_eq!(counted.load(Ordering::Relaxed), 2);
}

#[test]
fn faults_of_the_disk_are_errors_of_its_files() {
    let mut sim = Sim::new(1);
    sim.client("db", async {
        let mut file = std::fs::File::create("/data")?;
        file.write_all(b"one")?;
        sleep(secs(2)).await;
        assert_eq!(
            file.write_all(b"two").unwrap_err().kind(),
            ErrorKind::StorageFull
        );
        file.sync_all()?;
        sleep(secs(2)).await;
        assert_eq!(file.sync_all().unwrap_err().raw_os_error(), Some(5));
        sleep(secs(2)).await;
        let start = std::time::Instant::now();
        raddle::fs::write("/slow", "text").await?;
        file.sync_all()?;
        assert_eq!(start.elapsed(), millis(40));
        sleep(secs(2)).await;
        file.write_all(b"three")?;
        assert_eq!(raddle::fs::read_to_string("/data").await?, "onethree");
        std::io::Result::Ok(())
    });
    sim.at(secs(1)).full_disk("db").for_(secs(2));
    sim.at(secs(3)).broken_disk("db").for_(secs(2));
    sim.at(secs(5)).slow_disk("db", millis(20)).for_(secs(2));
    sim.run();
}
