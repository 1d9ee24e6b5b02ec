//! The live page in headless Chromium. The tests are skipped if Chromium is not installed. Two
//! browsers at once would slow each other down.
//!
//! `RADDLE_SCREENSHOTS=directory` saves screenshots in that directory.

mod chromium;

use std::hint::black_box;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::alone;
use chromium::Tab;
use raddle::runtime::{Builder, Runtime};

const LIMIT: Duration = Duration::from_secs(60);
/// The address in the documentation. Browsers open no page on some ports, 6669 among them.
const ADDRESS: &str = "127.0.0.1:6670";

fn runtime() -> Runtime {
    wait_until_the_port_is_free();
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all();
    builder.console(ADDRESS).build().unwrap()
}

/// The page of the previous test may still be closing its port.
fn wait_until_the_port_is_free() {
    let end = Instant::now() + LIMIT;
    while let Err(error) = TcpListener::bind(ADDRESS) {
        assert!(
            Instant::now() < end,
            "another program uses {ADDRESS}, on which these tests serve their pages: {error}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[inline(never)]
fn a_deliberately_slow_function(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        black_box(0);
    }
}

/// Ends the slow task of a test on drop, even if the test panics.
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Opens the page, and waits until it shows two workers.
fn open(runtime: &Runtime) -> Option<Tab> {
    let url = runtime.console_url().unwrap();
    assert!(url.contains(ADDRESS), "{url}");
    let Some(mut tab) = Tab::open(&url) else {
        eprintln!("skipped: there is no program named chromium; apt-get install chromium");
        return None;
    };
    tab.wait_for("document.querySelectorAll('.lane').length === 2", LIMIT);
    tab.wait_for(
        "document.getElementById('state').dataset.state === 'live'",
        LIMIT,
    );
    Some(tab)
}

#[test]
fn the_page_shows_a_slow_task_within_a_second_and_its_stack() {
    let _alone = alone();
    let runtime = runtime();
    let Some(mut tab) = open(&runtime) else {
        return;
    };
    // Other processes may occupy the processors for a while.
    let mut times = Vec::new();
    let mut running = None;
    for _ in 0..5 {
        let start = Instant::now();
        let stop = Stop(Arc::default());
        let flag = stop.0.clone();
        let slow = runtime.spawn(async move { a_deliberately_slow_function(&flag) });
        let id = std::num::NonZeroU64::from(slow.id()).get();
        tab.wait_for(
            &format!("!!document.querySelector('#rows .is-slow[data-id=\"{id}\"]')"),
            LIMIT,
        );
        times.push(start.elapsed());
        if times
            .last()
            .is_some_and(|time| *time < Duration::from_secs(1))
        {
            running = Some(stop);
            break;
        }
        drop(stop);
        runtime.block_on(slow).unwrap();
    }
    assert!(
        times.iter().min() < Some(&Duration::from_secs(1)),
        "{times:?}"
    );
    tab.wait_for("!!document.querySelector('.lane .is-slow')", LIMIT);
    if cfg!(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )) {
        tab.run("const all = document.querySelectorAll('#slow-list details'); all.forEach((one) => one.open = true)");
        tab.wait_for(
            "[...document.querySelectorAll('#slow-list pre')].some((stack) => \
             stack.textContent.includes('a_deliberately_slow_function'))",
            LIMIT,
        );
    }
    tab.screenshot("slow");
    drop(running);
}

#[test]
fn the_page_filters_sorts_and_scrolls_a_hundred_thousand_tasks() {
    const TASKS: usize = 100_000;
    let _alone = alone();
    let runtime = runtime();
    let Some(mut tab) = open(&runtime) else {
        return;
    };
    runtime.block_on(async {
        for _ in 0..TASKS {
            raddle::spawn(std::future::pending::<()>());
        }
    });
    let worker = runtime.spawn(async {
        loop {
            raddle::time::sleep(Duration::from_millis(5)).await;
        }
    });
    let id = std::num::NonZeroU64::from(worker.id()).get();
    let count = |text: &str| format!("document.getElementById('count').textContent === '{text}'");
    tab.wait_for(&count("100001"), LIMIT);
    // The page has rows for a bounded part of the table only.
    assert!(tab.number("document.querySelectorAll('#rows .row').length") <= 200.0);

    // Sort by the number of polls, highest first.
    tab.run("document.querySelector('[data-key=polls] button').click()");
    let first = format!("document.querySelector('#rows .row')?.dataset.id === '{id}'");
    tab.wait_for(&first, LIMIT);

    // The key `/` selects the filter, into which a task's id is typed.
    tab.press("/");
    tab.wait_for("document.activeElement.id === 'text'", LIMIT);
    tab.type_text(&id.to_string());
    tab.wait_for(&count("1 of 100001"), LIMIT);
    tab.press("Escape");
    tab.run("const text = document.getElementById('text'); text.value = ''; text.oninput()");
    tab.wait_for(&count("100001"), LIMIT);

    // Scroll to the end.
    tab.run("document.getElementById('table').scrollTop = 1e9");
    tab.wait_for(
        "document.querySelector('#rows').style.transform !== 'translateY(0px)'",
        LIMIT,
    );
    tab.wait_for("document.querySelectorAll('#rows .row').length > 5", LIMIT);

    // The page draws frames: the longest time between two of them within two seconds.
    let longest = tab.number(
        "new Promise((done) => { let last = performance.now(), longest = 0; const end = last + 2000; \
         const frame = (now) => { longest = Math.max(longest, now - last); last = now; \
         now < end ? requestAnimationFrame(frame) : done(longest); }; requestAnimationFrame(frame); })",
    );
    assert!(longest < 1000.0, "no frame for {longest} ms");

    // Filter and freeze with the keyboard.
    tab.press("4");
    tab.wait_for(
        "!!document.querySelector('[data-filter=slow][aria-pressed=true]')",
        LIMIT,
    );
    tab.press("1");
    tab.press("f");
    tab.wait_for(
        "document.getElementById('state').dataset.state === 'frozen'",
        LIMIT,
    );
    let polls = "document.querySelector('.plot b').textContent + \
                 document.querySelector('.lane .what').textContent";
    let frozen = tab.text(polls);
    std::thread::sleep(Duration::from_millis(800));
    assert_eq!(tab.text(polls), frozen);
    tab.press("f");
    tab.wait_for(
        "document.getElementById('state').dataset.state === 'live'",
        LIMIT,
    );
    tab.screenshot("tasks");

    // At the width of a phone no element is wider than the screen.
    tab.set_width(360);
    assert!(tab.number("document.documentElement.scrollWidth") <= 360.0);
    assert!(tab.number("document.getElementById('table').scrollWidth") <= 360.0);
    tab.screenshot("phone");
}

#[cfg(feature = "sync")]
#[test]
fn the_page_shows_a_deadlock_and_keeps_an_entry_open() {
    let _alone = alone();
    let runtime = runtime();
    let Some(mut tab) = open(&runtime) else {
        return;
    };
    tab.wait_for(
        "document.getElementById('waits').textContent === 'none'",
        LIMIT,
    );
    let lock = crate::deadlock::spawn(&runtime);
    tab.wait_for(
        "document.querySelector('#deadlocks .is-slow')?.textContent === 'suspected deadlock of 2 tasks'",
        LIMIT,
    );
    // The lock is held from here on.
    runtime.spawn(async move { drop(lock.lock().await) });
    tab.wait_for(
        "document.querySelector('#deadlocks details[open] pre').textContent.includes('held by task ')",
        LIMIT,
    );
    tab.press("r");
    // The task that two others wait for is the first in the list; its entry stays open.
    tab.wait_for(
        "document.querySelector('#waits details')?.textContent.includes(': 2 wait for it')",
        LIMIT,
    );
    tab.run("document.querySelector('#waits details').querySelector('summary').focus()");
    tab.press("Enter");
    let is_open = "document.querySelector('#waits details').open";
    tab.wait_for(is_open, LIMIT);
    std::thread::sleep(Duration::from_millis(2500));
    tab.wait_for(is_open, LIMIT);
    tab.wait_for(
        "document.activeElement.closest('#waits details') !== null",
        LIMIT,
    );
    tab.set_width(360);
    assert!(tab.number("document.documentElement.scrollWidth") <= 360.0);
    tab.screenshot("waits");
}

/// Tasks with many kinds of waits, and names that a page could take for something else.
#[cfg(feature = "sync")]
struct Crowd {
    holder: u64,
    /// A task that waits for the lock and for a timer.
    waiter: u64,
    /// Of a lock that a `block_on` has taken.
    _guard: raddle::sync::OwnedMutexGuard<()>,
}

#[cfg(feature = "sync")]
impl Crowd {
    const WAITERS: usize = 3000;

    fn spawn(runtime: &Runtime) -> Self {
        use raddle::sync::{Mutex, Semaphore, mpsc};

        let named = |name: &str| {
            let (name, handle) = (name.to_owned(), runtime.handle());
            move |future: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>| {
                let task = raddle::task::Builder::new().name(&name);
                let task = task.spawn_on(future, handle).unwrap();
                std::num::NonZeroU64::from(task.id()).get()
            }
        };
        let (lock, outside) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let guard = runtime.block_on(outside.clone().lock_owned());
        let holder = named("<script>document.title = 'bad'</script><img src=x onerror=bad()>");
        let holder = holder(Box::pin({
            let lock = lock.clone();
            async move {
                let _guard = lock.lock().await;
                std::future::pending::<()>().await;
            }
        }));
        while lock.try_lock().is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut waiter = 0;
        for number in 0..Self::WAITERS {
            let lock = lock.clone();
            waiter = named(&format!("request {number} for /api/orders"))(Box::pin(async move {
                raddle::select! {
                    _ = raddle::time::sleep(Duration::from_secs(900)) => {}
                    _ = lock.lock() => {}
                }
            }));
        }
        for _ in 0..3 {
            let outside = outside.clone();
            named(&"x".repeat(1 << 20))(Box::pin(async move { drop(outside.lock().await) }));
        }
        let permits = Arc::new(Semaphore::new(2));
        for number in 0..6 {
            let permits = permits.clone();
            named(&format!("download {number}"))(Box::pin(async move {
                let _permit = permits.acquire().await;
                std::future::pending::<()>().await;
            }));
        }
        let (sender, mut receiver) = mpsc::channel::<u32>(1);
        named("consumer")(Box::pin(async move {
            receiver.recv().await;
            std::future::pending::<()>().await;
            receiver.recv().await;
        }));
        for _ in 0..3 {
            let sender = sender.clone();
            named("producer")(Box::pin(
                async move { while sender.send(1).await.is_ok() {} },
            ));
        }
        named("ticker")(Box::pin(async {
            loop {
                raddle::time::sleep(Duration::from_millis(20)).await;
                raddle::task::yield_now().await;
            }
        }));
        Self {
            holder,
            waiter,
            _guard: guard,
        }
    }
}

#[cfg(feature = "sync")]
#[test]
fn waits_lead_to_tasks_and_resources_by_mouse_and_keyboard() {
    let _alone = alone();
    let runtime = runtime();
    let Some(mut tab) = open(&runtime) else {
        return;
    };
    let Crowd { holder, waiter, .. } = &Crowd::spawn(&runtime);
    let is_at = |hash: &str| format!("location.hash === '{hash}'");
    tab.press("/");
    tab.wait_for("document.activeElement.id === 'text'", LIMIT);
    tab.type_text(&waiter.to_string());
    tab.press("Escape");
    // The lock stands before the timer, and the holder is a link.
    let waits =
        format!("document.querySelector('#rows [data-id=\"{waiter}\"] .waits').textContent");
    tab.wait_for(
        &format!("document.querySelectorAll('#rows .row').length === 1 && {waits}.startsWith('Mutex::lock')"),
        LIMIT,
    );
    let text = tab.text(&waits);
    assert!(
        text.contains("held by task") && text.contains("; sleep"),
        "{text}"
    );
    tab.click("#rows .waits a[href^=\"#task\"]");
    tab.wait_for(&is_at(&format!("#task={holder}")), LIMIT);
    tab.wait_for(
        "document.getElementById('task-page').textContent.includes('and 2950 more')",
        LIMIT,
    );
    // A name is text, whatever it contains.
    let heading = tab.text("document.querySelector('#task-page h2').textContent");
    assert!(heading.contains("<img src=x onerror="), "{heading}");
    assert_eq!(tab.text("document.title"), "Raddle");
    // Back to the table, and to the resource of the wait.
    tab.press("Escape");
    tab.wait_for(&is_at("#tasks"), LIMIT);
    tab.click("#rows .waits a[href^=\"#resource\"]");
    tab.wait_for(
        "document.querySelector('#resource-list .is-chosen')?.textContent.includes('3000 tasks wait')",
        LIMIT,
    );
    let holds = format!(
        "document.querySelector('#resource-list .is-chosen a[href=\"#task={holder}\"]') !== null"
    );
    tab.wait_for(&holds, LIMIT);
    // A group, and its tasks.
    tab.press("g");
    tab.wait_for(
        "document.querySelectorAll('#group-list .group').length > 5",
        LIMIT,
    );
    let first = tab.text("document.querySelector('#group-list .group').textContent");
    assert!(first.starts_with("3000Mutex::lock"), "{first}");
    tab.run("const text = document.getElementById('text'); text.value = ''; text.oninput()");
    tab.click("#group-list .group a[href^=\"#group\"]");
    let is_group = "document.getElementById('count').textContent.startsWith('3000 of ')";
    tab.wait_for(is_group, LIMIT);
    // The keyboard alone: the second task of the group.
    tab.press("j");
    tab.press("j");
    let second = "document.querySelectorAll('#rows .row')[1].contains(document.activeElement)";
    tab.wait_for(second, LIMIT);
    // The focus stays while the rows change.
    std::thread::sleep(Duration::from_millis(700));
    tab.wait_for(second, LIMIT);
    tab.press("Enter");
    tab.wait_for("location.hash.startsWith('#task=')", LIMIT);
    tab.press("Escape");
    tab.wait_for("location.hash.startsWith('#group=')", LIMIT);
}

#[cfg(feature = "sync")]
#[test]
fn all_views_fit_on_a_monitor_and_on_a_phone() {
    let _alone = alone();
    let runtime = runtime();
    let Some(mut tab) = open(&runtime) else {
        return;
    };
    let Crowd { waiter, .. } = &Crowd::spawn(&runtime);
    let stop = Stop(Arc::default());
    let flag = stop.0.clone();
    runtime.spawn(async move { a_deliberately_slow_function(&flag) });
    tab.wait_for("!!document.querySelector('#slow-list details')", LIMIT);
    let task = format!("task={waiter}");
    let views = ["tasks", "groups", "resources", "slow", task.as_str()];
    for (width, colors) in [
        (1280, "light"),
        (1280, "dark"),
        (390, "light"),
        (390, "dark"),
    ] {
        tab.set_colors(colors);
        tab.set_width(width);
        for hash in views {
            tab.run(&format!("location.hash = '{hash}'"));
            let name = hash.split('=').next().unwrap();
            let shown = format!(
                "!document.querySelector('[data-view={name}]').hidden && \
                 document.querySelector('[data-view={name}]').innerText.length > 50"
            );
            tab.wait_for(&shown, LIMIT);
            std::thread::sleep(Duration::from_millis(400));
            let wide = tab.number("document.documentElement.scrollWidth");
            assert!(wide <= f64::from(width), "{name} is {wide} wide at {width}");
            tab.screenshot(&format!("{name}-{width}-{colors}"));
        }
        // Id, name and waits of a task are visible together, and the waits have most of the room.
        tab.run("location.hash = 'tasks'");
        tab.wait_for("document.querySelectorAll('#rows .row').length > 5", LIMIT);
        let visible = tab.text(
            "['id', 'name', 'waits'].map((cell) => { \
             const box = document.querySelectorAll('#rows .row .' + cell)[2].getBoundingClientRect(); \
             return box.left >= 0 && box.right <= innerWidth && box.width > 60 ? box.width : 'hidden'; \
             }).join()",
        );
        let widths: Result<Vec<f64>, _> = visible.split(',').map(str::parse).collect();
        let widths = widths.unwrap_or_else(|_| panic!("{visible} at {width}"));
        assert!(
            widths[2] > widths[0].max(widths[1]),
            "{widths:?} at {width}"
        );
    }
    drop(stop);
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[test]
fn a_task_that_hangs_in_a_lock_of_std_shows_its_stack() {
    #[inline(never)]
    fn waits_for_a_lock_of_std(lock: &std::sync::Mutex<()>) {
        drop(lock.lock());
    }

    let _alone = alone();
    let runtime = runtime();
    let Some(mut tab) = open(&runtime) else {
        return;
    };
    let lock = Arc::new(std::sync::Mutex::new(()));
    let guard = lock.lock().unwrap();
    let task = runtime.spawn({
        let lock = lock.clone();
        async move { waits_for_a_lock_of_std(&lock) }
    });
    let id = std::num::NonZeroU64::from(task.id()).get();
    tab.run(&format!("location.hash = 'task={id}'"));
    tab.click("#stack");
    tab.wait_for(
        "!!document.querySelector('#task-page pre')?.textContent.includes('waits_for_a_lock_of_std')",
        LIMIT,
    );
    tab.screenshot("stack");
    drop(guard);
}

#[test]
fn a_viewer_too_many_sees_the_reason_and_gets_the_page_when_another_leaves() {
    use std::io::Write;

    let _alone = alone();
    let runtime = runtime();
    let url = runtime.console_url().unwrap();
    let (_, token) = url.split_once("?token=").unwrap();
    let head = format!("GET /events?token={token} HTTP/1.1\r\nHost: {ADDRESS}\r\n\r\n");
    let connect = |_| {
        let mut stream = std::net::TcpStream::connect(ADDRESS).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let mut viewers: Vec<_> = (0..12).map(connect).collect();
    let Some(mut tab) = Tab::open(&url) else {
        return;
    };
    tab.wait_for(
        "document.getElementById('notice')?.textContent.startsWith('12 viewers are connected; close one')",
        LIMIT,
    );
    tab.screenshot("full");
    drop(viewers.pop());
    tab.wait_for(
        "document.getElementById('state').dataset.state === 'live' && document.getElementById('notice').hidden",
        LIMIT,
    );
}

#[test]
fn groups_of_slow_polls_are_replaced_and_those_that_run_come_first() {
    let _alone = alone();
    let runtime = runtime();
    let Some(mut tab) = open(&runtime) else {
        return;
    };
    tab.press("s");
    let group = |key: u32, frame: &str, count: u32, age: u32, is_running: bool| {
        serde_json::json!({
            "key": key, "frame": frame, "frame_at": "src/orders.rs:17", "name": "<b>request</b>",
            "span": "GET /orders", "location": "axum/src/serve/mod.rs:389:13", "count": count,
            "worst": 0.4, "latest": 0.25, "age": age, "is_running": is_running, "task": 17,
            "thread": "raddle-worker", "stack": "   0: shop::orders::parse",
        })
    };
    let add = |tab: &mut Tab, groups: Vec<serde_json::Value>| {
        tab.run(&format!(
            "addSlow({}); showSlow()",
            serde_json::json!(groups)
        ));
    };
    let row = |index: usize| {
        format!("document.querySelectorAll('#slow-list summary')[{index}].textContent")
    };
    let running = group(1, "shop::orders::parse", 3, 9, true);
    let ended = group(2, "shop::users::hash_password", 1, 2, false);
    add(&mut tab, vec![ended, running]);
    let first = tab.text(&row(0));
    for part in [
        "shop::orders::parse",
        "running",
        "3 polls",
        "so far",
        "task 17",
    ] {
        assert!(first.contains(part), "{part} in {first}");
    }
    for part in [
        "src/orders.rs:17",
        "GET /orders",
        "<b>request</b>",
        "serve/mod.rs:389:13",
    ] {
        assert!(first.contains(part), "{part} in {first}");
    }
    assert!(
        tab.text(&row(1))
            .starts_with("400 ms shop::users::hash_password")
    );
    // Its time goes on, past the worst.
    tab.wait_for(&format!("{}.startsWith('1.')", row(0)), LIMIT);
    tab.screenshot("slow-groups");
    // A group that stays open is replaced in its place.
    tab.click("#slow-list summary b");
    tab.wait_for("document.querySelector('#slow-list details').open", LIMIT);
    let mut changed = group(1, "shop::orders::parse", 4, 0, true);
    changed["worst"] = 7.0.into();
    add(&mut tab, vec![changed]);
    assert!(tab.text(&row(0)).starts_with("7.0 s shop::orders::parse"));
    tab.wait_for("document.querySelector('#slow-list details').open", LIMIT);
    // Many others do not push it away.
    let others = (10..200).map(|key| group(key, "shop::other", 1, 0, false));
    add(&mut tab, others.collect());
    assert_eq!(
        tab.number("document.querySelectorAll('#slow-list details').length"),
        64.0
    );
    assert!(tab.text(&row(0)).contains("shop::orders::parse"));
    add(
        &mut tab,
        vec![group(1, "shop::orders::parse", 5, 3600, false)],
    );
    assert!(tab.text(&row(0)).contains("shop::other"));
}
