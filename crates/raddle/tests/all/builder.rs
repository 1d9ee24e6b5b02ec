//! The options of a builder, and their effects.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::{each_flavor, eventually, multi_thread, panic_message, use_large_stack};
use raddle::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use raddle::task::LocalSet;

#[test]
fn the_flavor_is_the_one_that_was_built() {
    let runtime = Builder::new_current_thread().build().unwrap();
    assert_eq!(
        runtime.handle().runtime_flavor(),
        RuntimeFlavor::CurrentThread
    );
    let runtime = Runtime::new().unwrap();
    assert_eq!(
        runtime.handle().runtime_flavor(),
        RuntimeFlavor::MultiThread
    );
}

#[test]
fn each_runtime_has_an_id_of_its_own() {
    let mut ids = HashSet::new();
    for mut builder in [
        crate::common::multi_thread(),
        crate::common::current_thread(),
    ] {
        let runtime = builder.build().unwrap();
        let id = runtime.handle().id();
        let seen = [
            runtime.block_on(async { Handle::current().id() }),
            runtime
                .block_on(runtime.spawn(async { Handle::current().id() }))
                .unwrap(),
            runtime
                .block_on(runtime.spawn_blocking(|| Handle::current().id()))
                .unwrap(),
        ];
        assert_eq!(seen, [id; 3]);
        assert!(format!("{id:?}").contains(&id.to_string()));
        assert!(ids.insert(id));
        assert!(ids.insert(builder.build().unwrap().handle().id()));
        assert!(ids.insert(LocalSet::new().id()));
    }
}

#[test]
fn a_runtime_may_have_a_name() {
    let mut builder = Builder::new_current_thread();
    assert_eq!(builder.build().unwrap().handle().name(), None);
    let runtime = builder.name("front").build().unwrap();
    assert_eq!(runtime.handle().name(), Some("front"));
    assert!(format!("{runtime:?} {builder:?}").contains("front"));
    let message = panic_message(|| builder.name(" ").build());
    assert!(message.contains("name"), "{message}");
}

#[test]
fn the_number_of_workers_is_the_configured_one() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(3)
        .build()
        .unwrap();
    // Three tasks that complete only if all three run at once.
    let all = Arc::new(Barrier::new(3));
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let all = Arc::clone(&all);
            runtime.spawn(async move {
                all.wait();
                thread::current().id()
            })
        })
        .collect();
    let threads: HashSet<_> = runtime.block_on(async {
        let mut threads = HashSet::new();
        for task in tasks {
            threads.insert(task.await.unwrap());
        }
        threads
    });
    assert_eq!(threads.len(), 3);
    assert!(!threads.contains(&thread::current().id()));
}

#[test]
fn counts_and_intervals_of_zero_are_refused() {
    let message = panic_message(|| Builder::new_multi_thread().worker_threads(0).build());
    assert!(message.contains("worker_threads"), "{message}");
    let message = panic_message(|| Builder::new_multi_thread().max_blocking_threads(0).build());
    assert!(message.contains("max_blocking_threads"), "{message}");
    let message = panic_message(|| Builder::new_multi_thread().global_queue_interval(0).build());
    assert!(message.contains("global_queue_interval"), "{message}");
    let message = panic_message(|| Builder::new_multi_thread().event_interval(0).build());
    assert!(message.contains("event_interval"), "{message}");
}

#[test]
fn a_name_with_a_zero_byte_is_refused() {
    let message = panic_message(|| Builder::new_multi_thread().thread_name("a\0b").build());
    assert!(message.contains("zero byte"), "{message}");
    let mut builder = Builder::new_multi_thread();
    builder
        .worker_threads(2)
        .thread_name_fn(|| "a\0b".to_owned());
    let error = builder.build().map(drop).unwrap_err();
    assert!(error.to_string().contains("thread_name"), "{error}");

    let mut builder = Builder::new_current_thread();
    builder.thread_name_fn(|| "a\0b".to_owned());
    let runtime = builder.build().unwrap();
    let message = panic_message(|| drop(runtime.spawn_blocking(|| ())));
    assert!(message.contains("thread_name"), "{message}");
    // The runtime still works.
    assert_eq!(runtime.block_on(runtime.spawn(async { 1 })).unwrap(), 1);
}

/// The threads that were started exit.
#[test]
fn a_build_that_fails_leaves_no_thread() {
    let running = Arc::new(AtomicUsize::new(0));
    let (started, stopped) = (running.clone(), running.clone());
    let names = AtomicUsize::new(0);
    let error = Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .thread_name_fn(move || match names.fetch_add(1, SeqCst) {
            0..3 => "fine".to_owned(),
            _ => "a\0b".to_owned(),
        })
        .on_thread_start(move || {
            started.fetch_add(1, SeqCst);
        })
        .on_thread_stop(move || {
            stopped.fetch_sub(1, SeqCst);
        })
        .build()
        .map(drop)
        .unwrap_err();
    assert!(error.to_string().contains("thread_name"), "{error}");
    assert_eq!(running.load(SeqCst), 0);
    assert_eq!(Arc::strong_count(&running), 1, "the hooks are dropped");
}

#[test]
fn an_impossible_stack_size_is_refused() {
    for bytes in [usize::MAX / 16 * 15, usize::MAX] {
        if cfg!(windows) && bytes == usize::MAX {
            // Aborts the process under Wine 8: `tests/wine.rs` of raddle-net.
            continue;
        }
        let mut builder = Builder::new_multi_thread();
        let error = builder.worker_threads(1).thread_stack_size(bytes).build();
        let error = error.map(drop).unwrap_err();
        assert!(error.to_string().contains("smaller stack"), "{error}");
    }
    // A size of zero selects the smallest stack of the system.
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(1).thread_stack_size(0).build();
    drop(runtime.unwrap());
}

#[test]
fn threads_have_the_configured_name() {
    let runtime = multi_thread().thread_name("named").build().unwrap();
    let name = || thread::current().name().map(str::to_owned);
    let worker = runtime.block_on(runtime.spawn(async move { name() }));
    assert_eq!(worker.unwrap().as_deref(), Some("named"));
    let blocking = runtime.block_on(runtime.spawn_blocking(name));
    assert_eq!(blocking.unwrap().as_deref(), Some("named"));

    let count = AtomicUsize::new(0);
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name_fn(move || format!("named-{}", count.fetch_add(1, SeqCst)))
        .build()
        .unwrap();
    let worker = runtime.block_on(runtime.spawn(async move { name() }));
    assert_eq!(worker.unwrap().as_deref(), Some("named-0"));
}

/// 7880: threads for blocking work could not be told from workers.
#[test]
fn threads_for_blocking_work_have_a_name_of_their_own() {
    fn name() -> Option<String> {
        thread::current().name().map(str::to_owned)
    }
    type Set = fn(&mut Builder) -> &mut Builder;
    let cases: [(Set, _, _); 4] = [
        (|builder| builder, "raddle-worker", "raddle-blocking"),
        (|builder| builder.thread_name("web"), "web", "web"),
        (
            |builder| builder.blocking_thread_name("file").thread_name("web"),
            "web",
            "file",
        ),
        (
            |builder| builder.blocking_thread_name_fn(|| "file".to_owned()),
            "raddle-worker",
            "file",
        ),
    ];
    for (set, worker, blocking) in cases {
        let mut builder = Builder::new_multi_thread();
        set(builder.worker_threads(1));
        let runtime = builder.build().unwrap();
        let handed_off = runtime.spawn(async move {
            // Waits until another thread has taken the worker.
            let wait = || {
                Handle::current()
                    .block_on(raddle::spawn(async { name() }))
                    .unwrap()
            };
            [name(), raddle::task::block_in_place(wait)]
        });
        for name in runtime.block_on(handed_off).unwrap() {
            assert_eq!(name.as_deref(), Some(worker));
        }
        let call = runtime.block_on(runtime.spawn_blocking(name)).unwrap();
        assert_eq!(call.as_deref(), Some(blocking));
    }
    let set = || {
        Builder::new_current_thread().blocking_thread_name("a\0b");
    };
    assert!(panic_message(set).contains("change blocking_thread_name"));
}

#[test]
fn threads_have_the_configured_stack_size() {
    let runtime = multi_thread().thread_stack_size(16 << 20).build().unwrap();
    let worker = runtime.spawn(async { use_large_stack() });
    runtime.block_on(worker).unwrap();
    let blocking = runtime.spawn_blocking(use_large_stack);
    runtime.block_on(blocking).unwrap();
}

#[test]
fn hooks_run_inside_the_runtime() {
    let (started, stopped) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (at_start, at_stop) = (Arc::clone(&started), Arc::clone(&stopped));
    let runtime = multi_thread()
        .on_thread_start(move || {
            Handle::current();
            at_start.fetch_add(1, SeqCst);
        })
        .on_thread_stop(move || {
            Handle::current();
            at_stop.fetch_add(1, SeqCst);
        })
        .build()
        .unwrap();
    runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
    // Two workers and one thread for blocking work.
    eventually("all have started", || started.load(SeqCst) == 3);
    drop(runtime);
    assert_eq!(stopped.load(SeqCst), 3);
}

#[test]
fn a_hook_may_spawn() {
    let done = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&done);
    let runtime = multi_thread()
        .on_thread_start(move || {
            let count = Arc::clone(&count);
            Handle::current().spawn(async move { count.fetch_add(1, SeqCst) });
        })
        .build()
        .unwrap();
    eventually("both tasks have run", || done.load(SeqCst) == 2);
    drop(runtime);
}

#[test]
fn park_hooks_run_in_pairs() {
    let log = Arc::new(Mutex::new(Vec::new()));
    let (parks, unparks) = (Arc::clone(&log), Arc::clone(&log));
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .on_thread_park(move || parks.lock().unwrap().push("park"))
        .on_thread_unpark(move || unparks.lock().unwrap().push("unpark"))
        .build()
        .unwrap();
    for _ in 0..3 {
        let sleep = async { raddle::time::sleep(Duration::from_millis(1)).await };
        runtime.block_on(runtime.spawn(sleep)).unwrap();
    }
    drop(runtime);
    let log = log.lock().unwrap();
    assert!(log.len() >= 2);
    for pair in log.chunks(2) {
        assert_eq!(pair, ["park", "unpark"]);
    }
}

/// tokio 8212.
#[test]
fn a_park_hook_that_wakes_does_not_starve_timers() {
    for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
        let handle = Arc::new(Mutex::new(None::<Handle>));
        let current = Arc::clone(&handle);
        let runtime = builder
            .worker_threads(1)
            .enable_all()
            .on_thread_park(move || {
                if let Some(handle) = &*current.lock().unwrap() {
                    handle.spawn(async {});
                }
            })
            .build()
            .unwrap();
        *handle.lock().unwrap() = Some(runtime.handle().clone());
        let sleep = async { raddle::time::sleep(Duration::from_millis(1)).await };
        runtime.block_on(runtime.spawn(sleep)).unwrap();
        *handle.lock().unwrap() = None;
    }
}

#[test]
fn a_builder_may_build_several_runtimes() {
    let mut builder = multi_thread();
    let (first, second) = (builder.build().unwrap(), builder.build().unwrap());
    assert_eq!(first.block_on(second.spawn(async { 1 })).unwrap(), 1);
}

#[test]
fn tasks_run_without_io_and_time() {
    for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
        let runtime = builder
            .worker_threads(2)
            .global_queue_interval(5)
            .event_interval(7)
            .build()
            .unwrap();
        let task = runtime.spawn(async { raddle::spawn(async { 1 }).await.unwrap() });
        assert_eq!(runtime.block_on(task).unwrap(), 1);
    }
}

/// Runs in a process of its own, since all threads share the environment.
#[test]
fn the_environment_sets_the_default_number_of_workers() {
    const CHILD: &str = "RADDLE_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let started = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&started);
        let runtime = Builder::new_multi_thread()
            .on_thread_start(move || {
                count.fetch_add(1, SeqCst);
            })
            .build()
            .unwrap();
        drop(runtime);
        assert_eq!(started.load(SeqCst), 5);
        return;
    }
    let run = |variables: &[(&str, &str)]| {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["builder::the_environment_sets", "--nocapture"])
            .env(CHILD, "1")
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    };
    let (ours, tokio) = ("RADDLE_WORKER_THREADS", "TOKIO_WORKER_THREADS");
    for variables in [
        &[(ours, "5")][..],
        &[(tokio, "5")],
        &[(ours, "5"), (tokio, "3")],
    ] {
        let five = run(variables);
        let errors = String::from_utf8_lossy(&five.stderr);
        assert!(five.status.success(), "{errors}");
    }
    for bad in [
        (ours, "0"),
        (ours, "99999999"),
        (ours, "many"),
        (tokio, "many"),
    ] {
        let output = run(&[bad]);
        assert!(!output.status.success());
        let text = String::from_utf8_lossy(&output.stderr);
        let (variable, value) = bad;
        let advice = format!("{variable} is {value:?}; set it to a number from 1 to 65535");
        assert!(text.contains(&advice), "{text}");
    }
}

#[test]
fn builders_and_runtimes_implement_debug() {
    each_flavor(|runtime| {
        assert!(format!("{runtime:?}").contains("Thread"));
        assert!(format!("{:?}", Builder::new_multi_thread()).contains("MultiThread"));
    });
}
