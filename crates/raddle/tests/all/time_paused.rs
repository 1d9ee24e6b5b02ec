//! The virtual clock of a current-thread runtime.

use std::cell::RefCell;
use std::future::pending;
use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::task::{Context, Waker};

use crate::common::{current_thread, multi_thread, panic_message};
use raddle::io::{AsyncReadExt, AsyncWriteExt};
use raddle::net::{TcpListener, TcpStream};
use raddle::runtime::Builder;
use raddle::task::{LocalSet, spawn_blocking, spawn_local, yield_now};
use raddle::time::{
    Duration, Instant, MissedTickBehavior, advance, interval, pause, resume, sleep, sleep_until,
    timeout,
};

const HOUR: Duration = Duration::from_secs(3600);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[raddle::test(start_paused = true)]
async fn a_paused_clock_advances_exactly_to_the_next_deadline() {
    let start = Instant::now();
    sleep(100_000 * HOUR).await;
    assert_eq!(start.elapsed(), 100_000 * HOUR);
    sleep(ms(1)).await;
    sleep_until(start).await;
    assert_eq!(start.elapsed(), 100_000 * HOUR + ms(1));
}

/// Issue 31: each needed two, and a system call that woke a thread which did not wait.
#[test]
fn a_paused_timer_needs_one_turn_of_the_driver() {
    const TIMERS: u64 = 100;
    type Waits = fn() -> Pin<Box<dyn Future<Output = ()> + Send>>;
    async fn sleeps() {
        for _ in 0..TIMERS {
            sleep(ms(1)).await;
        }
    }
    let cases: [(&str, Waits); 6] = [
        ("sleeps of the future", || Box::pin(sleeps())),
        ("sleeps of a task", || {
            Box::pin(async { raddle::spawn(sleeps()).await.unwrap() })
        }),
        ("a task for each sleep", || {
            Box::pin(async {
                for _ in 0..TIMERS {
                    raddle::spawn(sleep(ms(1))).await.unwrap();
                }
            })
        }),
        ("time-outs", || {
            Box::pin(async {
                for _ in 0..TIMERS {
                    timeout(ms(1), pending::<()>()).await.unwrap_err();
                }
            })
        }),
        ("ticks of an interval", || {
            Box::pin(async {
                let mut ticks = interval(ms(1));
                for _ in 0..TIMERS {
                    ticks.tick().await;
                }
            })
        }),
        ("advances", || {
            Box::pin(async {
                for _ in 0..TIMERS {
                    advance(ms(1)).await;
                }
            })
        }),
    ];
    for (what, waits) in cases {
        for has_io in [false, true] {
            let mut builder = Builder::new_current_thread();
            if has_io {
                builder.enable_io();
            }
            let runtime = builder.enable_time().start_paused(true).build().unwrap();
            runtime.block_on(waits());
            let parks = runtime.metrics().worker_park_count(0);
            assert!(parks <= TIMERS + 5, "{what}: {parks} parks for {TIMERS}");
        }
    }
}

#[raddle::test(start_paused = true)]
async fn tasks_wake_in_the_order_of_their_deadlines() {
    let start = Instant::now();
    let (sender, receiver) = mpsc::channel();
    let tasks: Vec<_> = [50_000, 3, 700, 4, 1, 64, 63, 65]
        .map(|millis| {
            let sender = sender.clone();
            raddle::spawn(async move {
                sleep(ms(millis)).await;
                sender.send(millis).unwrap();
                start.elapsed()
            })
        })
        .into();
    for task in tasks {
        task.await.unwrap();
    }
    drop(sender);
    let order: Vec<u64> = receiver.iter().collect();
    assert_eq!(order, [1, 3, 4, 63, 64, 65, 700, 50_000]);
    assert_eq!(start.elapsed(), ms(50_000));
}

#[raddle::test(start_paused = true)]
async fn a_paused_clock_does_not_advance_while_a_task_is_ready() {
    let start = Instant::now();
    let sleeper = raddle::spawn(sleep(ms(1)));
    for _ in 0..1000 {
        yield_now().await;
        assert_eq!(start.elapsed(), Duration::ZERO);
    }
    sleeper.await.unwrap();
    assert_eq!(start.elapsed(), ms(1));
}

#[raddle::test(start_paused = true)]
async fn a_paused_clock_does_not_advance_while_an_event_is_ready() {
    let start = Instant::now();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    let mut byte = [0];
    for _ in 0..10 {
        client.write_all(b"x").await.unwrap();
        let read = timeout(HOUR, server.read_exact(&mut byte)).await;
        read.expect("the clock advanced although the byte had arrived")
            .unwrap();
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
    let read = timeout(HOUR, server.read_exact(&mut byte)).await;
    assert!(read.is_err());
    assert_eq!(start.elapsed(), HOUR);
}

#[raddle::test(start_paused = true)]
async fn a_paused_clock_does_not_advance_during_blocking_work() {
    let start = Instant::now();
    // Long enough for an idle runtime to park.
    let work = spawn_blocking(|| std::thread::sleep(ms(20)));
    timeout(HOUR, work)
        .await
        .expect("the clock advanced during blocking work")
        .unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[raddle::test(start_paused = true)]
async fn a_paused_clock_advances_after_blocking_work_has_ended() {
    let start = Instant::now(); // No task waits for it.
    drop(spawn_blocking(|| std::thread::sleep(ms(20))));
    sleep(HOUR).await;
    assert_eq!(start.elapsed(), HOUR);
    let work = {
        let (sender, receiver) = mpsc::channel::<()>();
        let work = spawn_blocking(move || receiver.recv().is_err());
        drop(sender);
        work
    };
    assert!(work.await.unwrap());
    sleep(HOUR).await;
    assert_eq!(start.elapsed(), 2 * HOUR);
}

#[test]
fn a_paused_clock_advances_beside_blocking_work_that_never_runs() {
    let mut builder = current_thread();
    let runtime = builder.start_paused(true).max_blocking_threads(1);
    runtime.build().unwrap().block_on(async {
        let (sender, receiver) = mpsc::channel::<()>();
        let first = spawn_blocking(move || receiver.recv().is_err());
        let second = spawn_blocking(|| ());
        second.abort();
        drop(sender);
        assert!(first.await.unwrap());
        assert!(second.await.unwrap_err().is_cancelled());
        sleep(HOUR).await;
    });
}

#[raddle::test(start_paused = true)]
async fn blocking_work_sees_the_same_clock() {
    let start = Instant::now();
    advance(HOUR).await;
    let there = spawn_blocking(Instant::now).await.unwrap();
    assert_eq!(there, start + HOUR);
}

#[raddle::test]
async fn the_clock_can_be_paused_and_resumed() {
    let before = Instant::now();
    pause();
    let paused = Instant::now();
    assert!(paused >= before);
    std::thread::sleep(ms(2));
    assert_eq!(Instant::now(), paused);
    advance(HOUR).await;
    assert_eq!(Instant::now(), paused + HOUR);
    resume();
    let running = Instant::now();
    assert!(running >= paused + HOUR);
    sleep(ms(2)).await;
    assert!(running.elapsed() >= ms(2));
    pause();
    sleep(HOUR).await;
    assert!(running.elapsed() >= HOUR);
}

#[raddle::test(start_paused = true)]
async fn advancing_fires_what_is_due() {
    let mut due = pin!(sleep(ms(10)));
    let mut later = pin!(sleep(ms(11)));
    let cx = &mut Context::from_waker(Waker::noop());
    assert!(due.as_mut().poll(cx).is_pending());
    assert!(later.as_mut().poll(cx).is_pending());
    advance(ms(9)).await;
    assert!(!due.is_elapsed());
    advance(ms(1)).await;
    assert!(due.is_elapsed() && !later.is_elapsed());
    assert!(due.as_mut().poll(cx).is_ready());
    later.as_mut().reset(Instant::now() + ms(5));
    advance(ms(4)).await;
    assert!(!later.is_elapsed());
    advance(Duration::from_micros(999)).await;
    assert!(!later.is_elapsed());
    advance(Duration::from_micros(1)).await;
    assert!(later.is_elapsed());
}

#[raddle::test(start_paused = true)]
async fn intervals_tick_in_virtual_time() {
    let start = Instant::now();
    let mut ticks = interval(HOUR);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    for hour in 0..5 {
        assert_eq!(ticks.tick().await, start + hour * HOUR);
        assert_eq!(start.elapsed(), hour * HOUR);
    }
    advance(5 * HOUR / 2).await;
    assert_eq!(ticks.tick().await, start + 5 * HOUR);
    assert_eq!(ticks.tick().await, start + 7 * HOUR);
}

#[raddle::test(start_paused = true)]
async fn local_tasks_wait_in_virtual_time() {
    let order = std::rc::Rc::new(RefCell::new(Vec::new()));
    let set = LocalSet::new();
    set.run_until(async {
        let tasks = [3, 1, 2].map(|hours| {
            let order = order.clone();
            spawn_local(async move {
                sleep(hours * HOUR).await;
                order.borrow_mut().push(hours);
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
    })
    .await;
    assert_eq!(*order.borrow(), [1, 2, 3]);
}

#[test]
fn a_paused_clock_advances_without_sockets() {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let start = Instant::now();
        let work = spawn_blocking(|| std::thread::sleep(ms(10)));
        timeout(HOUR, work).await.unwrap().unwrap();
        sleep(HOUR).await;
        assert_eq!(start.elapsed(), HOUR);
    });
}

#[test]
fn a_paused_clock_does_not_advance_before_a_task_from_another_thread() {
    let mut builder = current_thread();
    let runtime = builder.start_paused(true).build().unwrap();
    let handle = runtime.handle().clone();
    runtime.block_on(async {
        for _ in 0..200 {
            let handle = handle.clone();
            // The blocking task holds the clock until it has spawned.
            let spawned = spawn_blocking(move || handle.spawn(async { Instant::now() }));
            let start = Instant::now();
            let sleeper = raddle::spawn(sleep(ms(1)));
            let seen = spawned.await.unwrap().await.unwrap();
            assert_eq!(seen, start);
            sleeper.await.unwrap();
        }
    });
}

#[test]
fn an_endless_sleep_does_not_stop_a_runtime_that_is_awaited() {
    let mut builder = current_thread();
    let runtime = builder.start_paused(true).build().unwrap();
    runtime.block_on(async {
        let never = sleep(Duration::MAX);
        assert!(timeout(HOUR, never).await.is_err());
    });
}

#[test]
fn only_a_current_thread_runtime_can_pause() {
    let message = multi_thread()
        .build()
        .unwrap()
        .block_on(async { panic_message(pause) });
    assert!(message.contains("new_current_thread"), "{message}");
    let message = panic_message(|| multi_thread().start_paused(true).build());
    assert!(message.contains("new_current_thread"), "{message}");
}

#[test]
fn a_clock_needs_a_runtime_with_timers() {
    assert!(panic_message(pause).contains("no runtime on this thread"));
    let mut builder = Builder::new_current_thread();
    let message = builder
        .build()
        .unwrap()
        .block_on(async { panic_message(pause) });
    assert!(message.contains("enable_time"), "{message}");
    let message = panic_message(|| builder.start_paused(true).build());
    assert!(message.contains("enable_time"), "{message}");
}

#[raddle::test(start_paused = true)]
#[should_panic(expected = "the clock is paused already")]
async fn pausing_twice_panics() {
    pause();
}

#[raddle::test]
#[should_panic(expected = "the clock is not paused")]
async fn resuming_a_running_clock_panics() {
    resume();
}

#[raddle::test]
#[should_panic(expected = "the clock is not paused")]
async fn advancing_a_running_clock_panics() {
    advance(ms(1)).await;
}
