//! A paused clock that only `advance` moves.

use std::sync::mpsc;
use std::thread;

use crate::common::{current_thread, multi_thread, panic_message};
use raddle::net::UdpSocket;
use raddle::sync::oneshot;
use raddle::task::{spawn_blocking, yield_now};
use raddle::time::{Duration, Instant, advance, hold_auto_advance, interval, pause, resume, sleep};

const HOUR: Duration = Duration::from_secs(3600);
const REAL: Duration = Duration::from_millis(20);

/// Lets the runtime be idle for a while of real time.
async fn idle() {
    let (sender, ended) = oneshot::channel();
    thread::spawn(move || {
        thread::sleep(REAL);
        sender.send(())
    });
    ended.await.unwrap();
}

#[raddle::test(start_paused = true)]
async fn an_idle_runtime_does_not_advance_a_clock_that_is_held() {
    let hold = hold_auto_advance();
    let start = Instant::now();
    let sleeper = raddle::spawn(sleep(HOUR));
    idle().await;
    assert!(!sleeper.is_finished());
    assert_eq!(start.elapsed(), Duration::ZERO);
    advance(HOUR - Duration::from_millis(1)).await;
    idle().await;
    assert!(!sleeper.is_finished());
    advance(Duration::from_millis(1)).await;
    sleeper.await.unwrap();
    assert_eq!(start.elapsed(), HOUR);
    drop(hold);
    sleep(HOUR).await;
    assert_eq!(start.elapsed(), 2 * HOUR);
}

#[test]
fn tasks_that_sleep_are_woken_by_each_advance_in_turn() {
    let runtime = current_thread().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let _hold = hold_auto_advance();
        let (sender, ticked) = mpsc::channel();
        let start = Instant::now();
        for millis in [10, 20, 20, 30] {
            let sender = sender.clone();
            raddle::spawn(async move {
                sleep(Duration::from_millis(millis)).await;
                sender.send(start.elapsed()).unwrap();
            });
        }
        raddle::spawn(async move {
            let mut ticks = interval(Duration::from_millis(15));
            loop {
                ticks.tick().await;
                sender.send(start.elapsed()).unwrap();
            }
        });
        idle().await;
        let mut counts = Vec::new();
        for _ in 0..8 {
            let now = start.elapsed();
            counts.push(ticked.try_iter().inspect(|at| assert_eq!(*at, now)).count());
            advance(Duration::from_millis(5)).await;
            yield_now().await;
        }
        // At 0, 5, 10 and so on to 35 ms.
        assert_eq!(counts, [1, 0, 1, 1, 2, 0, 2, 0]);
    });
}

/// Held before it is paused, the clock runs; paused, it stands; resumed, it runs again.
#[test]
fn a_hold_has_an_effect_only_while_the_clock_is_paused() {
    current_thread().build().unwrap().block_on(async {
        let hold = hold_auto_advance();
        let start = Instant::now();
        sleep(Duration::from_millis(2)).await;
        assert!(start.elapsed() >= Duration::from_millis(2));
        pause();
        let paused = Instant::now();
        let sleeper = raddle::spawn(sleep(Duration::from_millis(2)));
        idle().await;
        assert!(!sleeper.is_finished());
        assert_eq!(paused.elapsed(), Duration::ZERO);
        resume();
        sleeper.await.unwrap();
        assert!(paused.elapsed() >= Duration::from_millis(2));
        drop(hold);
    });
}

#[raddle::test(start_paused = true)]
async fn the_last_of_several_guards_ends_the_hold_on_any_thread() {
    let (first, second) = (hold_auto_advance(), hold_auto_advance());
    drop(first);
    let start = Instant::now();
    let sleeper = raddle::spawn(sleep(HOUR));
    idle().await;
    assert!(!sleeper.is_finished());
    // The runtime waits for it without a time-out.
    thread::spawn(move || {
        thread::sleep(REAL);
        drop(second);
    });
    sleeper.await.unwrap();
    assert_eq!(start.elapsed(), HOUR);
}

/// Blocking work holds the clock itself, and its end does not end the hold.
#[raddle::test(start_paused = true)]
async fn events_and_blocking_work_do_not_end_a_hold() {
    let _hold = hold_auto_advance();
    let sleeper = raddle::spawn(sleep(HOUR));
    spawn_blocking(|| thread::sleep(REAL)).await.unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        thread::sleep(REAL);
        let peer = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        peer.send_to(b"x", address).unwrap();
    });
    socket.recv_from(&mut [0]).await.unwrap();
    assert!(!sleeper.is_finished());
}

#[test]
fn a_clock_that_cannot_be_paused_cannot_be_held() {
    let hold = || drop(hold_auto_advance());
    assert!(panic_message(hold).contains("no runtime on this thread"));
    let message = multi_thread()
        .build()
        .unwrap()
        .block_on(async { panic_message(hold) });
    assert!(
        message.contains("only the clock of a current-thread runtime"),
        "{message}"
    );
}
