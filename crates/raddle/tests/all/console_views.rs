//! The views of the live page as JSON: one task, groups, resources, stacks; the options of the
//! page.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::console::{LIMIT, get, json, page, runtime, status};
use raddle::runtime::{Builder, ConsoleOptions, Runtime};
use serde_json::Value;

fn id<T>(task: &raddle::task::JoinHandle<T>) -> u64 {
    NonZeroU64::from(task.id()).get()
}

/// Asks until the answer is as expected.
fn ask(runtime: &Runtime, target: &str, is_expected: impl Fn(&Value) -> bool) -> Value {
    let (address, token) = page(runtime);
    let separator = if target.contains('?') { '&' } else { '?' };
    let end = Instant::now() + LIMIT;
    loop {
        let answer = get(address, &format!("{target}{separator}token={token}"));
        if status(&answer) == "200" {
            let answer = json(&answer);
            if is_expected(&answer) {
                return answer;
            }
            assert!(Instant::now() < end, "{answer}");
        }
        assert!(Instant::now() < end, "{answer}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn is_waiting(page: &Value) -> bool {
    page["task"]["state"] == "waiting"
}

#[cfg(feature = "time")]
#[test]
fn the_page_of_a_task_has_its_polls_and_what_woke_it() {
    let runtime = runtime(2);
    let notify = Arc::new(raddle::sync::Notify::new());
    let task = runtime.spawn({
        let notify = notify.clone();
        async move {
            raddle::task::yield_now().await;
            raddle::time::sleep(Duration::from_millis(1)).await;
            notify.notified().await;
            thread::sleep(Duration::from_millis(30));
            notify.notified().await;
            std::future::pending::<()>().await;
        }
    });
    let target = format!("/task?id={}", id(&task));
    let polled = |count: usize| {
        ask(&runtime, &target, |page| {
            let polls = page["polls"].as_array().unwrap().len();
            is_waiting(page) && polls == count && page["task"]["polls"] == count
        })
    };
    polled(3);
    let waker = runtime.spawn({
        let notify = notify.clone();
        async move { notify.notify_one() }
    });
    let waker = id(&waker);
    // That of `notified`.
    assert_eq!(polled(4)["wakers"], 1);
    let thread = thread::Builder::new().name("a waking thread".to_owned());
    let wake = thread.spawn(move || notify.notify_one()).unwrap();
    wake.join().unwrap();
    let page = polled(5);
    let causes = page["polls"].as_array().unwrap().iter();
    let causes: Vec<_> = causes.map(|poll| poll["cause"].as_str().unwrap()).collect();
    assert_eq!(
        causes,
        [
            "spawned",
            "woken during the poll before",
            "woken by the driver",
            "woken by",
            "woken by code outside tasks",
        ]
    );
    // The task that has woken it has ended.
    assert_eq!(page["polls"][3]["by"]["label"], format!("task {waker}"));
    let time = page["polls"][3]["time"].as_f64().unwrap();
    assert!(time >= 0.03, "{time}");
    assert!(page["longest_delay"].as_f64() >= page["mean_delay"].as_f64());
    assert_eq!(page["thread"], "a waking thread");
    let wakes = serde_json::json!({ "tasks": 1, "driver": 1, "other": 1, "self": 1 });
    assert_eq!(page["wakes"], wakes);
}

#[test]
fn the_history_of_a_task_is_bounded() {
    let runtime = runtime(1);
    let task = runtime.spawn(async {
        for _ in 0..1000 {
            raddle::task::yield_now().await;
        }
        std::future::pending::<()>().await;
    });
    let page = ask(&runtime, &format!("/task?id={}", id(&task)), is_waiting);
    assert_eq!(page["task"]["polls"], 1001);
    assert_eq!(page["wakes"]["self"], 1000);
    // `pending` keeps no waker.
    assert_eq!(page["wakers"], 0);
    let polls = page["polls"].as_array().unwrap();
    assert_eq!(polls.len(), 16);
    let ago: Vec<_> = polls
        .iter()
        .map(|poll| poll["ago"].as_f64().unwrap())
        .collect();
    assert!(ago.is_sorted_by(|one, two| one >= two), "{ago:?}");
}

#[test]
fn a_task_that_has_ended_has_no_page() {
    let runtime = runtime(1);
    let (address, token) = page(&runtime);
    let answer = get(address, &format!("/task?id=123456789&token={token}"));
    assert_eq!(status(&answer), "404");
}

#[test]
fn a_lock_comes_before_the_timer_and_leads_to_its_holder() {
    let runtime = runtime(2);
    let lock = Arc::new(raddle::sync::Mutex::new(()));
    let holder = runtime.spawn({
        let lock = lock.clone();
        async move {
            let _guard = lock.lock().await;
            std::future::pending::<()>().await;
        }
    });
    ask(&runtime, &format!("/task?id={}", id(&holder)), is_waiting);
    let waiter = runtime.spawn(async move {
        raddle::select! {
            biased;
            _ = raddle::time::sleep(Duration::from_secs(1000)) => {}
            _ = lock.lock() => {}
        }
    });
    let page = ask(&runtime, &format!("/task?id={}", id(&waiter)), |page| {
        is_waiting(page) && page["task"]["waits"][0]["by"][0]["task"].is_u64()
    });
    let waits = page["task"]["waits"].as_array().unwrap();
    assert_eq!(waits.len(), 2, "{page}");
    assert_eq!(waits[0]["operation"], "Mutex::lock");
    assert_eq!(waits[0]["role"], "held by");
    assert_eq!(waits[0]["by"][0]["task"], id(&holder));
    assert_eq!(waits[1]["address"], Value::Null);
    let holder = ask(&runtime, &format!("/task?id={}", id(&holder)), |page| {
        !page["waiters"].as_array().unwrap().is_empty()
    });
    assert_eq!(holder["waiters"][0]["task"], id(&waiter));
    assert_eq!(holder["waiters"][0]["operation"], "Mutex::lock");
}

#[test]
fn resources_have_holders_and_queues() {
    let runtime = runtime(2);
    let lock = Arc::new(raddle::sync::Mutex::new(()));
    let permits = Arc::new(raddle::sync::Semaphore::new(1));
    let (sender, mut receiver) = raddle::sync::mpsc::channel::<()>(1);
    let guard = runtime.block_on(lock.clone().lock_owned());
    for _ in 0..3 {
        let lock = lock.clone();
        runtime.spawn(async move { drop(lock.lock().await) });
    }
    let holder = runtime.spawn({
        let permits = permits.clone();
        async move {
            let _permit = permits.acquire().await.unwrap();
            std::future::pending::<()>().await;
        }
    });
    ask(&runtime, &format!("/task?id={}", id(&holder)), is_waiting);
    let waiting = runtime.spawn(async move { drop(permits.acquire().await) });
    runtime.spawn(async move {
        let _ = receiver.recv().await;
        let _ = receiver.recv().await;
    });
    runtime.spawn(async move {
        let _ = sender.send(()).await;
        std::future::pending::<()>().await;
    });
    let answer = ask(&runtime, "/resources", |answer| {
        answer["total"] == 3 && answer["resources"][0]["count"] == 3
    });
    let of_kind = |kind: &str| {
        let resources = answer["resources"].as_array().unwrap();
        let found = resources.iter().find(|one| one["kind"] == kind);
        found.unwrap_or_else(|| panic!("{answer}"))
    };
    let [lock, semaphore, channel] = ["lock", "semaphore", "channel"].map(of_kind);
    assert_eq!(
        answer["resources"][0], *lock,
        "the longest queue is the first"
    );
    assert_eq!(lock["waiters"].as_array().unwrap().len(), 3);
    assert_eq!(semaphore["users"][0]["task"], id(&holder));
    assert_eq!(semaphore["users"][0]["role"], "holds it");
    assert_eq!(semaphore["waiters"][0]["task"], id(&waiting));
    assert_eq!(channel["users"][0]["role"], "sends", "{channel}");
    drop(guard);
}

#[test]
fn tasks_that_wait_at_one_line_are_one_group() {
    const TASKS: usize = 5000;
    let runtime = runtime(2);
    let lock = Arc::new(raddle::sync::Mutex::new(()));
    let guard = runtime.block_on(lock.clone().lock_owned());
    for number in 0..TASKS {
        let lock = lock.clone();
        let named = raddle::task::Builder::new()
            .name(&format!("request {number}"))
            .spawn_on(
                async move {
                    raddle::select! {
                        _ = lock.lock() => {}
                        _ = raddle::time::sleep(Duration::from_secs(1000 + number as u64)) => {}
                    }
                },
                runtime.handle(),
            );
        drop(named);
    }
    runtime.spawn(std::future::pending::<()>());
    let answer = ask(&runtime, "/groups", |answer| {
        answer["total"] == 2 && answer["groups"][0]["state"] == "waiting"
    });
    let group = &answer["groups"][0];
    assert_eq!(group["count"], TASKS);
    assert_eq!(group["waits"][0]["operation"], "Mutex::lock");
    assert_eq!(group["waits"][0]["is_shared"], true);
    assert_eq!(group["waits"][1]["is_shared"], false);
    assert_eq!(group["tasks"].as_array().unwrap().len(), 4);
    let key = group["key"].as_str().unwrap();
    let tasks = ask(&runtime, &format!("/tasks?limit=10&group={key}"), |_| true);
    assert_eq!(
        (&tasks["matching"], &tasks["total"]),
        (&TASKS.into(), &(TASKS + 1).into())
    );
    drop(guard);
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[test]
#[allow(clippy::disallowed_types, reason = "the lock of the case")]
fn a_task_that_hangs_in_a_lock_of_std_has_a_stack() {
    #[inline(never)]
    fn locks_a_mutex_of_std(lock: &std::sync::Mutex<()>) {
        drop(lock.lock());
    }

    let runtime = runtime(2);
    let lock = Arc::new(std::sync::Mutex::new(()));
    let guard = lock.lock().unwrap();
    let task = runtime.spawn({
        let lock = lock.clone();
        async move { locks_a_mutex_of_std(&lock) }
    });
    let target = format!("/stack?id={}", id(&task));
    let answer = ask(&runtime, &target, |answer| answer["stack"].is_string());
    let stack = answer["stack"].as_str().unwrap();
    assert!(stack.contains("locks_a_mutex_of_std"), "{stack}");
    assert!(
        stack.contains("futex") || stack.contains("Mutex"),
        "{stack}"
    );
    drop(guard);
    ask(&runtime, &target, |answer| answer["stack"].is_null());
}

#[test]
fn the_token_can_be_supplied() {
    let mut options = ConsoleOptions::new("127.0.0.1:0");
    options.token = Some("0123456789-of_the_program".to_owned());
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.console_options(options).build().unwrap();
    let url = runtime.console_url().unwrap();
    assert!(url.ends_with("/?token=0123456789-of_the_program"), "{url}");
    let (address, token) = page(&runtime);
    assert_eq!(
        status(&get(address, &format!("/tasks?token={token}"))),
        "200"
    );
    let mut options = ConsoleOptions::new("127.0.0.1:0");
    options.token = Some("short".to_owned());
    let error = builder.console_options(options).build().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

#[cfg(unix)]
#[test]
fn the_url_is_written_to_a_file_of_its_owner() {
    use std::os::unix::fs::PermissionsExt;

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("url");
    let mut options = ConsoleOptions::new("127.0.0.1:0");
    options.url_file = Some(file.clone());
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.console_options(options).build().unwrap();
    let url = std::fs::read_to_string(&file).unwrap();
    assert_eq!(url.trim_end(), runtime.console_url().unwrap());
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut options = ConsoleOptions::new("127.0.0.1:0");
    options.url_file = Some(directory.path().join("none/url"));
    assert!(builder.console_options(options).build().is_err());
}
