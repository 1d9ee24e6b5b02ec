use raddle::runtime::Handle;
use raddle::task::{block_in_place, spawn_blocking};
use raddle::time::{Instant, sleep};
use raddle_sim::Sim;
use std::time::Duration;

#[test]
fn a_blocking_call_blocks_on_a_future() {
    let mut sim = Sim::new(1);
    sim.workers(2).client("a", async {
        let start = Instant::now();
        let job = spawn_blocking(|| {
            Handle::current().block_on(async { sleep(Duration::from_secs(5)).await });
            5
        });
        sleep(Duration::from_secs(1)).await;
        assert_eq!(start.elapsed(), Duration::from_secs(1));
        assert_eq!(job.await.unwrap(), 5);
        assert_eq!(start.elapsed(), Duration::from_secs(5));
    });
    sim.run();
}

#[test]
fn a_blocking_call_receives_from_a_channel() {
    let mut sim = Sim::new(1);
    sim.workers(1).client("a", async {
        let (tx, mut rx) = raddle::sync::mpsc::channel(1);
        let job = spawn_blocking(move || {
            let mut sum = 0;
            while let Some(n) = rx.blocking_recv() {
                sum += n;
            }
            sum
        });
        for n in 0..10 {
            sleep(Duration::from_millis(10)).await;
            tx.send(n).await.unwrap();
        }
        drop(tx);
        assert_eq!(job.await.unwrap(), 45);
    });
    sim.run();
}

#[test]
fn a_task_blocks_in_place() {
    let mut sim = Sim::new(1);
    sim.workers(1).client("a", async {
        let start = Instant::now();
        let other = raddle::spawn(async move {
            for _ in 0..3 {
                sleep(Duration::from_secs(1)).await;
            }
            start.elapsed()
        });
        let blocks = raddle::spawn(async {
            block_in_place(|| Handle::current().block_on(sleep(Duration::from_secs(10))));
        });
        assert_eq!(other.await.unwrap(), Duration::from_secs(3));
        blocks.await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(10));
    });
    sim.run();
}

#[test]
fn the_clocks_of_std_show_virtual_time() {
    let mut sim = Sim::new(1);
    sim.workers(1).client("a", async {
        let (start, calendar) = (std::time::Instant::now(), std::time::SystemTime::now());
        assert_eq!(start, Instant::now().into_std());
        sleep(Duration::from_secs(3600)).await;
        assert_eq!(start.elapsed(), Duration::from_secs(3600));
        assert_eq!(calendar.elapsed().unwrap(), Duration::from_secs(3600));
    });
    sim.run();
}

#[test]
fn a_poll_that_sleeps_takes_virtual_time_and_a_spare_worker_serves() {
    let mut sim = Sim::new(1);
    sim.workers(1).client("a", async {
        let start = Instant::now();
        let ticks = raddle::spawn(async move {
            let mut ticks = raddle::time::interval(Duration::from_secs(1));
            for _ in 0..5 {
                ticks.tick().await;
            }
            start.elapsed()
        });
        let blocks = raddle::spawn(async { std::thread::sleep(Duration::from_secs(60)) });
        let elapsed = ticks.await.unwrap();
        assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
        blocks.await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(60));
    });
    sim.run();
}

#[test]
fn random_numbers_and_hashes_follow_the_seed() {
    let run = |seed| {
        let (tx, rx) = std::sync::mpsc::channel();
        let mut sim = Sim::new(seed);
        sim.workers(2).client("a", async move {
            let map: std::collections::HashMap<u32, u32> = (0..50).map(|n| (n, n)).collect();
            let mut bytes = [0; 8];
            let mut device = std::fs::File::open("/dev/urandom").unwrap();
            std::io::Read::read_exact(&mut device, &mut bytes).unwrap();
            tx.send((map.into_keys().collect::<Vec<_>>(), bytes))
                .unwrap();
        });
        sim.run();
        rx.recv().unwrap()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1).0, run(2).0);
    assert_ne!(run(1).1, run(2).1);
}

#[test]
fn threads_of_std_take_part() {
    let mut sim = Sim::new(1);
    sim.workers(1).client("a", async {
        let start = Instant::now();
        let (ask, asked) = std::sync::mpsc::channel::<(u32, raddle::sync::oneshot::Sender<u32>)>();
        let thread = std::thread::spawn(move || {
            let mut count = 0;
            for (number, answer) in asked {
                std::thread::sleep(Duration::from_secs(1));
                let _ = answer.send(number * 2);
                count += 1;
            }
            count
        });
        for number in 0..5 {
            let (answer, answered) = raddle::sync::oneshot::channel();
            ask.send((number, answer)).unwrap();
            assert_eq!(answered.await.unwrap(), number * 2);
        }
        drop(ask);
        assert_eq!(thread.join().unwrap(), 5);
        assert_eq!(start.elapsed(), Duration::from_secs(5));
        #[allow(clippy::disallowed_types, reason = "as a program would use them")]
        let lock = std::sync::Arc::new((std::sync::Mutex::new(0), std::sync::Condvar::new()));
        let theirs = lock.clone();
        let thread = std::thread::spawn(move || {
            let mut value = theirs.0.lock().unwrap();
            while *value < 3 {
                value = theirs.1.wait(value).unwrap();
            }
            std::thread::park_timeout(Duration::from_secs(2));
        });
        for _ in 0..3 {
            sleep(Duration::from_secs(1)).await;
            *lock.0.lock().unwrap() += 1;
            lock.1.notify_all();
        }
        raddle::task::spawn_blocking(|| thread.join().unwrap())
            .await
            .unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(10));
    });
    sim.run();
}

#[test]
fn a_loop_that_reads_the_clock_lets_the_time_pass() {
    let mut sim = Sim::new(1);
    sim.workers(1).client("a", async {
        let start = std::time::Instant::now();
        while start.elapsed() < Duration::from_micros(50) {}
        assert_eq!(start.elapsed(), Duration::from_micros(50));
    });
    sim.run();
}

/// Runs a program that sends what it does, with each of many seeds, and returns the first two that
/// it did, sorted and without repetitions.
fn orders(run: impl Fn(&mut Sim, std::sync::mpsc::Sender<&'static str>)) -> Vec<Vec<&'static str>> {
    let of_seed = |seed| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let mut sim = Sim::new(seed);
        run(sim.workers(1), sender);
        sim.run();
        Vec::from_iter(receiver.into_iter().take(2))
    };
    let mut orders = Vec::from_iter((0..40).map(of_seed));
    orders.sort();
    orders.dedup();
    orders
}

#[test]
fn threads_and_tasks_of_the_same_time_run_in_an_order_of_the_seed() {
    let orders = orders(|sim, did| {
        sim.client("a", async move {
            let of_thread = did.clone();
            let thread = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(5));
                of_thread.send("thread").unwrap();
            });
            sleep(Duration::from_millis(5)).await;
            did.send("task").unwrap();
            spawn_blocking(|| thread.join().unwrap()).await.unwrap();
        });
    });
    assert_eq!(orders, [["task", "thread"], ["thread", "task"]]);
}

#[test]
fn a_thread_that_wakes_another_goes_on_first_or_not() {
    let orders = orders(|sim, did| {
        sim.client("a", async move {
            let of_thread = did.clone();
            let thread = std::thread::spawn(move || {
                std::thread::park();
                of_thread.send("woken").unwrap();
            });
            sleep(Duration::from_millis(5)).await;
            thread.thread().unpark();
            did.send("waker").unwrap();
            spawn_blocking(|| thread.join().unwrap()).await.unwrap();
        });
    });
    assert_eq!(orders, [["waker", "woken"], ["woken", "waker"]]);
}
