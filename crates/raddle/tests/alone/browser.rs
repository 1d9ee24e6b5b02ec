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
        tab.run("const all = document.querySelectorAll('#slow details'); all.forEach((one) => one.open = true)");
        tab.wait_for(
            "[...document.querySelectorAll('#slow pre')].some((stack) => \
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
    tab.wait_for("innerWidth === 360", LIMIT);
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
    assert_eq!(
        tab.text("document.getElementById('waits').textContent"),
        "none"
    );
    let lock = crate::deadlock::spawn(&runtime);
    tab.wait_for(
        "document.querySelector('#waits .is-slow')?.textContent === 'deadlock of 2 tasks'",
        LIMIT,
    );
    // The lock is held from here on.
    runtime.spawn(async move { drop(lock.lock().await) });
    tab.wait_for(
        "document.querySelector('#waits details[open] pre').textContent.includes('held by task ')",
        LIMIT,
    );
    // The task that two others wait for is the first in the list; its entry stays open.
    tab.wait_for(
        "document.querySelectorAll('#waits details')[1]?.textContent.includes(': 2 wait for it')",
        LIMIT,
    );
    tab.run("document.querySelectorAll('#waits details')[1].querySelector('summary').focus()");
    tab.press("Enter");
    let is_open = "document.querySelectorAll('#waits details')[1].open";
    tab.wait_for(is_open, LIMIT);
    std::thread::sleep(Duration::from_millis(2500));
    tab.wait_for(is_open, LIMIT);
    tab.wait_for(
        "document.activeElement.closest('#waits details') !== null",
        LIMIT,
    );
    tab.set_width(360);
    tab.wait_for("innerWidth === 360", LIMIT);
    assert!(tab.number("document.documentElement.scrollWidth") <= 360.0);
    tab.screenshot("waits");
}
