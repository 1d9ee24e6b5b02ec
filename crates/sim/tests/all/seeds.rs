//! Runs with many seeds, and what is said when one fails.

use std::collections::HashMap;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use raddle::io::{AsyncReadExt as _, AsyncWriteExt as _};
use raddle::net::{TcpListener, TcpStream};
use raddle::time::sleep;
use raddle_sim::{Latency, Link, Sim};

const MS: Duration = Duration::from_millis(1);

/// Runs a check of the calling test, which is expected to fail, and returns the message.
macro_rules! failure {
    ($test:ident, $seeds:expr, $build:expr) => {{
        let test = concat!(module_path!(), "::", stringify!($test));
        raddle_sim::try_check(test, $seeds, $build).expect_err("a seed fails")
    }};
}

#[track_caller]
fn assert_contains(text: &str, words: &[&str]) {
    for words in words {
        assert!(text.contains(words), "no {words:?} in: {text}");
    }
}

static FORKS: AtomicU64 = AtomicU64::new(0);

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn a_process_for_seeds_starts_without_handlers_of_forks() {
    // SAFETY: the handler is a function that only adds to a number.
    let status = unsafe { libc::pthread_atfork(None, Some(count_fork), None) };
    assert_eq!(status, 0);
    let test = concat!(
        module_path!(),
        "::a_process_for_seeds_starts_without_handlers_of_forks"
    );
    raddle_sim::check(test, 2, |sim| {
        sim.client("client", async {});
        sim.run();
    });
    assert_eq!(FORKS.load(Ordering::Relaxed), 0);
}

/// Clients of a server with several workers, locks, blocking work, random numbers and faults.
pub(crate) fn mixed(sim: &mut Sim) {
    sim.default_link(Link {
        latency: Latency::Exponential {
            min: MS,
            mean: 3 * MS,
        },
        loss: 0.01,
        ..Link::default()
    });
    sim.workers(3).host("server", || async {
        let listener = TcpListener::bind("0.0.0.0:7").await?;
        let total = Arc::new(raddle::sync::Mutex::new(0));
        loop {
            let (stream, _) = listener.accept().await?;
            raddle::spawn(echo(stream, Arc::clone(&total)));
        }
        #[allow(unreachable_code, reason = "it gives the type of the error")]
        std::io::Result::Ok(())
    });
    for client in 0..4 {
        sim.workers(2).client(&format!("client{client}"), async {
            // Its order is random.
            let map: HashMap<u64, u64> = (0..20).map(|n| (n, n)).collect();
            for (n, _) in map {
                let asked = async {
                    let mut stream = TcpStream::connect("server:7").await?;
                    let mut bytes = vec![1; 1 + n as usize];
                    stream.write_all(&bytes).await?;
                    stream.read_exact(&mut bytes).await
                };
                let _late = raddle::time::timeout(300 * MS, asked).await;
                raddle::select! {
                    () = sleep(n as u32 * MS) => {}
                    () = sleep(n as u32 * MS) => { raddle::task::yield_now().await; }
                }
            }
        });
    }
    sim.at(50 * MS)
        .partition("client1", "server")
        .for_(100 * MS);
    sim.at(100 * MS).crash("server").for_(50 * MS);
    sim.at(200 * MS).pause("server").for_(50 * MS);
    sim.at(240 * MS).slow_cpu("server", MS).for_(200 * MS);
    sim.run();
}

async fn echo(
    mut stream: TcpStream,
    total: Arc<raddle::sync::Mutex<usize>>,
) -> std::io::Result<()> {
    let mut buf = [0; 64];
    while let n @ 1.. = stream.read(&mut buf).await? {
        *total.lock().await += n;
        raddle::task::spawn_blocking(|| std::thread::sleep(2 * MS)).await?;
        stream.write_all(&buf[..n]).await?;
    }
    Ok(())
}

/// Fails for about one seed of eight.
fn fails_rarely(sim: &mut Sim) {
    sim.workers(1).client("one", async {
        sleep(5 * MS).await;
        let map: HashMap<u64, u64> = (0..8).map(|n| (n, n)).collect();
        let first = map.into_keys().next();
        println!("{first:?} is first");
        assert_ne!(first, Some(3), "three is first");
    });
    sim.run();
}

#[test]
fn two_runs_of_a_seed_are_the_same() {
    raddle_sim::compare(30, mixed).unwrap();
}

#[raddle_sim::test(seeds = 50)]
fn seeds_run_on_all_cores(sim: &mut Sim) {
    mixed(sim);
}

#[raddle_sim::test]
#[should_panic(expected = "three is first")]
fn a_failure_is_a_panic_of_the_test(sim: &mut Sim) {
    fails_rarely(sim)
}

#[test]
fn a_rare_failure_is_found_with_its_seed_and_replayed() {
    let name = "seeds::a_rare_failure_is_found_with_its_seed_and_replayed";
    let test = concat!(
        module_path!(),
        "::a_rare_failure_is_found_with_its_seed_and_replayed"
    );
    let error = raddle_sim::try_check(test, 100, fails_rarely).expect_err("a seed fails");
    let seed = error
        .strip_prefix("seed ")
        .and_then(|rest| rest.split(' ').next());
    let seed: u64 = seed.unwrap().parse().unwrap();
    if std::env::var_os("RADDLE_SEED").is_some() {
        // The process that this test starts below.
        panic!("{error}");
    }
    let command = format!(
        "\n  RADDLE_SEED={seed} cargo test -p raddle-sim --test all {name} -- --exact --nocapture\n"
    );
    assert_contains(
        &error,
        &[
            "host \"one\" panicked",
            "three is first",
            &command,
            "before the end at 5ms of virtual time:\n  one\n    a ",
            "\n    a step of worker 0 of one at 5ms\nIt printed:\n  Some(3) is first\n",
        ],
    );
    assert!(!error.contains("differ"), "{error}");
    // The message of `Sim::run` is not printed again.
    assert_eq!(error.matches(" panicked").count(), 2, "{error}");

    let (is_passed, stdout, stderr) = run_test(name, "RADDLE_SEED", &seed.to_string());
    assert!(!is_passed);
    assert_contains(&stdout, &["Some(3) is first\n"]);
    let message = error.lines().next().unwrap();
    assert_contains(&stderr, &[message, "three is first"]);
}

#[test]
fn the_seeds_of_the_environment_are_numbers() {
    let test = "seeds::seeds_run_on_all_cores";
    for (name, value, words) in [
        (
            "RADDLE_SEED",
            "seven",
            "RADDLE_SEED is \"seven\", which is no number; set it to",
        ),
        (
            "RADDLE_SEEDS",
            "",
            "RADDLE_SEEDS is \"\", which is no number; set it to",
        ),
        ("RADDLE_SEEDS", "0", "there are no seeds to run"),
    ] {
        let (is_passed, _, stderr) = run_test(test, name, value);
        assert!(!is_passed);
        assert_contains(&stderr, &[words]);
    }
}

#[test]
fn the_environment_replaces_the_number_of_seeds() {
    // The seed that fails is 7.
    let test = "seeds::a_panic_after_the_run_is_a_failure";
    let (is_passed, _, _) = run_test(test, "RADDLE_SEEDS", "8");
    assert!(is_passed);
    let (is_passed, _, stderr) = run_test(test, "RADDLE_SEEDS", "7");
    assert!(!is_passed);
    assert_contains(&stderr, &["a seed fails: ()"]);
}

#[test]
fn the_traces_of_two_runs_can_be_compared() {
    let traces = || {
        let name = format!("raddle-sim-traces-{}", std::process::id());
        let file = std::env::temp_dir().join(name);
        let test = "seeds::seeds_run_on_all_cores";
        assert!(run_test(test, "RADDLE_TRACES", file.to_str().unwrap()).0);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let lines = traces();
    let hash_of = |line: &String| line.split(' ').nth(2).unwrap().to_owned();
    let hashes: std::collections::BTreeSet<_> = lines.iter().map(hash_of).collect();
    assert_eq!((lines.len(), hashes.len()), (50, 50));
    assert_eq!(lines, traces());
}

/// Runs a test of this binary with a variable in its environment, and returns whether it has
/// passed, and what it has printed.
fn run_test(test: &str, name: &str, value: &str) -> (bool, String, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([test, "--exact", "--nocapture"])
        .env(name, value);
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.success(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn runs_that_differ_are_reported() {
    let error = failure!(runs_that_differ_are_reported, 1, |sim| {
        sim.workers(1).client("one", async {
            sleep(std::process::id() * MS).await;
            panic!("as planned");
        });
        sim.run();
    });
    assert_contains(
        &error,
        &[
            "seed 0 fails: host \"one\" panicked: as planned\n",
            "Two runs of the seed differ: event ",
            "s in one run, and a ",
            "something that is not simulated",
        ],
    );
    assert!(!error.contains("RADDLE_SEED"), "{error}");
}

#[test]
fn different_messages_of_the_same_events_are_noticed() {
    let error = failure!(
        different_messages_of_the_same_events_are_noticed,
        1,
        |sim| {
            sim.client("one", async { panic!("this is {}", std::process::id()) });
            sim.run();
        }
    );
    assert_contains(
        &error,
        &["differ: their events are the same, but one fails: "],
    );
}

#[test]
fn what_earlier_seeds_leave_in_the_process_is_noticed() {
    let error = failure!(
        what_earlier_seeds_leave_in_the_process_is_noticed,
        1000,
        |sim| {
            static RUNS: AtomicU64 = AtomicU64::new(0);
            // ORDERING: one thread uses it.
            assert!(RUNS.fetch_add(1, Ordering::Relaxed) == 0, "not the first");
            sim.client("one", async {});
            sim.run();
        }
    );
    assert_contains(
        &error,
        &[
            "fails: not the first\n",
            "passes in a process of its own",
            "the earlier seeds ",
        ],
    );
}

#[test]
fn a_test_must_run_its_simulation() {
    let error = failure!(a_test_must_run_its_simulation, 1, |sim| {
        sim.client("one", async {});
    });
    assert_contains(&error, &["seed 0 fails", "end it with sim.run()"]);
}

#[test]
fn a_panic_after_the_run_is_a_failure() {
    let error = failure!(a_panic_after_the_run_is_a_failure, 100, |sim| {
        let (tx, rx) = std::sync::mpsc::channel();
        sim.client("one", async move { tx.send(1).unwrap() });
        sim.run();
        assert_eq!(
            rx.recv().unwrap() + u64::from(sim.seed() == 7),
            1,
            "it is seven"
        );
    });
    assert_contains(
        &error,
        &["seed 7 fails", "it is seven", "RADDLE_SEED=7 cargo test"],
    );
}

#[test]
fn the_end_of_the_process_is_a_failure_of_its_seed() {
    let error = failure!(the_end_of_the_process_is_a_failure_of_its_seed, 10, |sim| {
        if sim.seed() == 5 {
            println!("about to abort");
            std::process::abort();
        }
        sim.client("one", async {});
        sim.run();
    });
    assert_contains(
        &error,
        &[
            "seed 5 fails",
            "SIGABRT",
            "RADDLE_SEED=5 cargo test",
            "\n  about to abort",
        ],
    );
}

#[test]
fn a_wrong_name_of_the_test_is_an_error() {
    let error = failure!(no_such_test, 10, |sim| sim.run());
    assert_contains(
        &error,
        &[
            "\"seeds::no_such_test\" has run a simulation",
            "running 0 tests",
        ],
    );
}

#[test]
fn a_test_may_check_several_times() {
    let test = concat!(module_path!(), "::a_test_may_check_several_times");
    raddle_sim::check(test, 2, |sim| {
        sim.client("one", async {});
        sim.run();
    });
    let error = failure!(a_test_may_check_several_times, 1, |sim| {
        sim.client("one", async { panic!("the second") });
        sim.run();
    });
    assert_contains(&error, &["seed 0 fails", "the second", "RADDLE_SEED=0"]);
}

#[test]
fn a_pool_in_a_static_serves_every_seed() {
    static POOL: std::sync::OnceLock<std::sync::mpsc::SyncSender<std::sync::mpsc::Sender<u32>>> =
        std::sync::OnceLock::new();
    let test = concat!(module_path!(), "::a_pool_in_a_static_serves_every_seed");
    raddle_sim::check(test, 6, |sim| {
        sim.client("one", async {
            let pool = POOL.get_or_init(|| {
                let (ask, asked) = std::sync::mpsc::sync_channel(1);
                std::thread::spawn(move || {
                    for answer in asked {
                        std::sync::mpsc::Sender::send(&answer, 7).unwrap();
                    }
                });
                ask
            });
            let answered = raddle::task::spawn_blocking(|| {
                let (answer, answered) = std::sync::mpsc::channel();
                pool.send(answer).unwrap();
                answered.recv()
            });
            assert_eq!(answered.await.unwrap(), Ok(7));
        });
        sim.run();
    });
}

#[test]
fn a_deadlock_of_two_locks_is_shown_with_its_tasks() {
    let error = failure!(a_deadlock_of_two_locks_is_shown_with_its_tasks, 2, |sim| {
        sim.client("one", async {
            let lock = || Arc::new(raddle::sync::Mutex::new(()));
            let locks = [lock(), lock()];
            let tasks = [0, 1].map(|first| {
                let locks = locks.clone();
                raddle::spawn(async move {
                    let _first = locks[first].lock().await;
                    sleep(MS).await;
                    let _second = locks[1 - first].lock().await;
                })
            });
            for task in tasks {
                task.await.unwrap();
            }
        });
        sim.host("idle", || async {
            for _ in 0..40 {
                raddle::spawn(std::future::pending::<()>());
            }
            std::future::pending::<()>().await;
        });
        sim.run();
    });
    assert_contains(
        &error,
        &[
            "seed 0 fails: the simulation makes no progress",
            "\n  \"one\" has 3 tasks that wait",
            "\n  the tasks of \"one\":\n    task ",
            ", the future of the host: waiting for 1.0ms, ",
            concat!(", spawned at ", file!(), ":"),
            " waits for JoinHandle, task ",
            "\n    suspected deadlock of 2 tasks:\n      task ",
            "\n  the tasks of \"idle\":\n    task ",
            "\n    and 25 more tasks\n",
            "RADDLE_SEED=0 cargo test",
        ],
    );
    assert_eq!(error.matches("waits for Mutex::lock at crates").count(), 4);
    assert_eq!(error.matches(concat!(" since ", file!(), ":")).count(), 4);
    assert_eq!(error.matches("\n    task ").count(), 3 + 16, "{error}");
    assert!(!error.contains("differ"), "{error}");
}

#[test]
fn a_task_that_holds_the_sender_it_waits_for_is_shown() {
    let error = failure!(
        a_task_that_holds_the_sender_it_waits_for_is_shown,
        1,
        |sim| {
            sim.client("one", async {
                let (_sender, receiver) = raddle::sync::oneshot::channel::<()>();
                receiver.await.unwrap();
            });
            sim.run();
        }
    );
    assert_contains(
        &error,
        &[
            ", the future of the host: waiting for 0.0ns, 1 polls\n      waits for oneshot::Receiver",
            concat!(file!(), ":"),
        ],
    );
}

#[test]
fn a_thread_that_waits_for_a_lock_of_std_is_shown() {
    let error = failure!(a_thread_that_waits_for_a_lock_of_std_is_shown, 1, |sim| {
        sim.client("one", async {
            #[allow(clippy::disallowed_types, reason = "the lock of unmodified programs")]
            let lock = Arc::new(std::sync::Mutex::new(()));
            let held = lock.lock();
            let other = Arc::clone(&lock);
            let thread = std::thread::spawn(move || drop(other.lock()));
            thread.join().unwrap();
            drop(held);
        });
        sim.run();
    });
    assert_contains(
        &error,
        &[
            "\n  a thread of \"one\" waits for a lock, a condition variable or an unpark",
            "\n  a thread of \"one\" waits for the end of another thread",
            ", the future of the host: running for ",
        ],
    );
}

#[test]
fn clients_that_take_too_long_are_shown_with_their_tasks() {
    let error = failure!(
        clients_that_take_too_long_are_shown_with_their_tasks,
        1,
        |sim| {
            sim.limit(100 * MS).client("one", async {
                loop {
                    sleep(60 * MS).await;
                }
            });
            sim.run();
        }
    );
    assert_contains(
        &error,
        &[
            "the clients have not ended after 100ms",
            ": waiting for 0.0ns, 2 polls\n      waits for sleep at ",
        ],
    );
}

#[test]
fn a_run_without_a_check_keeps_no_dumps() {
    let mut sim = Sim::new(1);
    sim.client("one", std::future::pending::<()>());
    let error = sim.try_run().unwrap_err();
    assert!(error.ends_with("\"one\" has 1 tasks that wait"), "{error}");
}
