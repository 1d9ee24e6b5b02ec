//! Local sets without any runtime.

use std::cell::Cell;
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::thread;

use raddle_primitives::sync::Mutex;
use raddle_task::{CurrentLocalSet, JoinHandle, LocalSet};
use raddle_testing::Wakes;

fn poll<F: Future>(future: Pin<&mut F>, wakes: &Arc<Wakes>) -> Poll<F::Output> {
    let waker = Waker::from(Arc::clone(wakes));
    future.poll(&mut Context::from_waker(&waker))
}

/// Spawns tasks, and returns the count of their runs.
fn spawn_counting(set: &LocalSet, tasks: usize) -> Rc<Cell<usize>> {
    let runs = Rc::new(Cell::new(0));
    for _ in 0..tasks {
        let runs = Rc::clone(&runs);
        drop(set.spawn_local(async move { runs.set(runs.get() + 1) }));
    }
    runs
}

/// A future that gives out its waker, and is ready once the gate is open.
#[derive(Clone, Default)]
struct Gate(Arc<GateState>);

#[derive(Default)]
struct GateState {
    waker: Mutex<Option<Waker>>,
    is_open: AtomicBool,
}

impl Gate {
    fn open(&self) {
        self.0.is_open.store(true, SeqCst);
        let waker = self.0.waker.lock().take();
        waker.expect("the gate was polled").wake();
    }
}

impl Future for Gate {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let former = self.0.waker.lock().replace(cx.waker().clone());
        drop(former);
        match self.0.is_open.load(SeqCst) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

/// Spawns a task that wakes itself in each poll, and returns the count of its polls.
fn spawn_yielding(set: &LocalSet) -> Rc<Cell<usize>> {
    let polls = Rc::new(Cell::new(0));
    let count = Rc::clone(&polls);
    drop(set.spawn_local(poll_fn(move |cx| {
        count.set(count.get() + 1);
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    })));
    polls
}

/// Spawns a task that is never ready, and returns a reference to a value that it owns.
fn spawn_pending(set: &LocalSet) -> Weak<()> {
    let held = Rc::new(());
    let weak = Rc::downgrade(&held);
    drop(set.spawn_local(async move {
        pending::<()>().await;
        drop(held);
    }));
    weak
}

#[test]
fn a_set_that_may_not_poll_on_runs_one_task_in_each_poll() {
    let mut set = LocalSet::new(|| false);
    let runs = spawn_counting(&set, 3);
    let wakes = Arc::new(Wakes::default());
    for run in 1..=3 {
        assert_eq!(poll(Pin::new(&mut set), &wakes).is_ready(), run == 3);
        assert_eq!(runs.get(), run);
        // Each poll that leaves tasks in the queue wakes the poller.
        assert_eq!(wakes.get(), run.min(2));
    }
    assert!(set.is_empty());
}

#[test]
fn a_set_that_may_poll_on_runs_all_tasks_in_one_poll() {
    let mut set = LocalSet::new(|| true);
    let runs = spawn_counting(&set, 3);
    assert_eq!(set.len(), 3);
    assert!(poll(Pin::new(&mut set), &Arc::default()).is_ready());
    assert_eq!((runs.get(), set.len()), (3, 0));
}

#[test]
fn the_current_set_is_polled_inside_and_only_entered_outside() {
    let set = LocalSet::new(|| true);
    assert!(CurrentLocalSet::get().is_none());
    {
        let _guard = set.enter();
        assert!(!CurrentLocalSet::get().unwrap().is_polled());
    }
    let inside = set.run_until(async { CurrentLocalSet::get().unwrap().is_polled() });
    assert_eq!(poll(pin!(inside), &Arc::default()), Poll::Ready(true));
    assert!(CurrentLocalSet::get().is_none());
}

#[test]
#[should_panic(expected = "a task of a LocalSet panicked")]
fn a_set_that_shuts_down_on_a_panic_panics_when_it_is_polled() {
    let mut set = LocalSet::new(|| true);
    set.shut_down_on_panic(true);
    let handle = set.spawn_local(async { panic!("the task's own message") });
    let _ = poll(Pin::new(&mut set), &Arc::default());
    drop(handle);
}

#[test]
fn a_future_that_was_not_polled_runs_no_task() {
    let set = LocalSet::new(|| true);
    let runs = spawn_counting(&set, 1);
    drop(set.run_until(async {}));
    assert_eq!(runs.get(), 0);
    assert!(poll(pin!(set.run_until(async {})), &Arc::default()).is_ready());
}

#[test]
fn a_task_that_is_spawned_from_outside_wakes_a_poller_that_waits() {
    let set = LocalSet::new(|| true);
    let wakes = Arc::<Wakes>::default();
    let mut waiting = pin!(set.run_until(pending::<()>()));
    assert!(poll(waiting.as_mut(), &wakes).is_pending());
    assert!(set.is_empty());
    let runs = spawn_counting(&set, 2);
    assert!(!set.is_empty());
    // The second finds no waiting poller.
    assert_eq!((wakes.get(), runs.get()), (1, 0));
    assert!(poll(waiting, &wakes).is_pending());
    assert_eq!((wakes.get(), runs.get()), (1, 2));
}

#[test]
fn a_task_that_is_spawned_or_woken_inside_runs_in_the_same_poll() {
    let set = LocalSet::new(|| true);
    let gate = Gate::default();
    let runs = Rc::new(Cell::new(0));
    let (waits, count) = (gate.clone(), Rc::clone(&runs));
    drop(set.spawn_local(async move {
        waits.await;
        count.set(count.get() + 1);
    }));
    let wakes = Arc::<Wakes>::default();
    let mut driver = pin!(set.run_until(async {
        pending_once().await;
        gate.open();
        drop(spawn_counting(&set, 1));
        pending::<()>().await;
    }));
    assert!(poll(driver.as_mut(), &wakes).is_pending());
    assert_eq!((set.len(), wakes.get()), (1, 1));
    assert!(poll(driver, &wakes).is_pending());
    assert_eq!((set.len(), wakes.get(), runs.get()), (0, 1, 1));
}

/// Is woken at once.
async fn pending_once() {
    let mut is_woken = false;
    poll_fn(|cx| match std::mem::replace(&mut is_woken, true) {
        true => Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

#[test]
fn a_task_that_is_woken_in_the_poll_of_another_set_runs_in_its_own() {
    let (set, other) = (LocalSet::new(|| true), LocalSet::new(|| true));
    let gate = Gate::default();
    drop(set.spawn_local(gate.clone()));
    let (wakes, other_wakes) = (Arc::<Wakes>::default(), Arc::default());
    let mut driver = pin!(set.run_until(pending::<()>()));
    assert!(poll(driver.as_mut(), &wakes).is_pending());
    let opens = other.run_until(async { gate.open() });
    assert!(poll(pin!(opens), &other_wakes).is_ready());
    assert_eq!((wakes.get(), other_wakes.get()), (1, 0));
    assert_eq!((set.len(), other.len()), (1, 0));
    assert!(poll(driver, &wakes).is_pending());
    assert!(set.is_empty());
}

#[test]
fn a_task_that_another_thread_wakes_runs_beside_one_that_is_always_due() {
    let mut set = LocalSet::new(|| true);
    let polls = spawn_yielding(&set);
    let gate = Gate::default();
    let task = set.spawn_local(gate.clone());
    let wakes = Arc::<Wakes>::default();
    assert!(poll(Pin::new(&mut set), &wakes).is_pending());
    // A poll of the set runs a task more than once, but not forever.
    assert!(polls.get() > 1);
    assert_eq!(wakes.get(), 1);
    thread::spawn(move || gate.open()).join().unwrap();
    assert!(!task.is_finished());
    assert!(poll(Pin::new(&mut set), &wakes).is_pending());
    assert!(task.is_finished());
}

#[test]
fn tasks_run_more_than_once_while_the_future_of_run_until_waits() {
    let set = LocalSet::new(|| true);
    let polls = spawn_yielding(&set);
    let mut driver = pin!(set.run_until(pending::<()>()));
    assert!(poll(driver.as_mut(), &Arc::default()).is_pending());
    assert!(polls.get() > 1);
}

#[test]
fn the_future_of_run_until_is_polled_once_each_task_has_run() {
    let set = LocalSet::new(|| true);
    let polls = [(); 3].map(|()| spawn_yielding(&set));
    let gate = Gate::default();
    let opens = gate.clone();
    let mut opened = false;
    drop(set.spawn_local(poll_fn(move |cx| {
        if !std::mem::replace(&mut opened, true) {
            opens.open();
        }
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    })));
    let wakes = Arc::<Wakes>::default();
    let mut driver = pin!(set.run_until(gate));
    assert!(poll(driver.as_mut(), &wakes).is_pending());
    assert!(polls.iter().all(|polls| polls.get() == 1), "{polls:?}");
    assert!(wakes.get() > 0);
    assert!(poll(driver, &wakes).is_ready());
    assert!(polls.iter().all(|polls| polls.get() == 1), "{polls:?}");
}

/// A task that has woken itself does not count for those that other tasks spawn.
#[test]
fn tasks_that_tasks_spawn_beside_one_that_yields_run_before_the_future_of_run_until() {
    for yields_for_ever in [false, true] {
        let set = Rc::new(LocalSet::new(|| true));
        let gate = Gate::default();
        let opens = gate.clone();
        let mut turns = 0;
        drop(set.spawn_local(poll_fn(move |cx| {
            turns += 1;
            if turns == 2 && !yields_for_ever {
                return Poll::Ready(());
            }
            opens.open();
            cx.waker().wake_by_ref();
            Poll::Pending
        })));
        let has_run = Rc::new(Cell::new(false));
        let (runs, spawner) = (Rc::clone(&has_run), Rc::clone(&set));
        drop(set.spawn_local(async move {
            let inner = Rc::clone(&spawner);
            drop(spawner.spawn_local(async move {
                drop(inner.spawn_local(async move { runs.set(true) }));
            }));
        }));
        let mut driver = pin!(set.run_until(async {
            gate.await;
            has_run.get()
        }));
        let wakes = Arc::<Wakes>::default();
        assert!(poll(driver.as_mut(), &wakes).is_pending());
        assert_eq!(poll(driver.as_mut(), &wakes), Poll::Ready(true));
    }
}

#[test]
fn the_future_of_run_until_wakes_its_poller_once_for_each_poll() {
    let set = LocalSet::new(|| true);
    let gate = Gate::default();
    let wakes = Arc::<Wakes>::default();
    let mut driver = pin!(set.run_until(gate.clone()));
    for polls in 0..3 {
        assert_eq!(wakes.get(), polls);
        assert!(poll(driver.as_mut(), &wakes).is_pending());
        let waker = gate.0.waker.lock().clone().unwrap();
        waker.wake_by_ref();
        waker.wake();
    }
    assert_eq!(wakes.get(), 3);
    gate.open();
    assert!(poll(driver, &wakes).is_ready());
}

#[test]
fn a_dropped_driver_is_not_woken() {
    let mut set = LocalSet::new(|| true);
    let wakes = Arc::<Wakes>::default();
    {
        let mut waiting = pin!(set.run_until(pending::<()>()));
        assert!(poll(waiting.as_mut(), &wakes).is_pending());
    }
    assert!(poll(Pin::new(&mut set), &wakes).is_ready());
    drop(spawn_counting(&set, 1));
    assert_eq!(wakes.get(), 0);
    assert_eq!(Arc::strong_count(&wakes), 1);
}

#[test]
fn a_driver_that_leaves_tasks_behind_wakes_the_others() {
    let set = LocalSet::new(|| true);
    let wakes = Arc::<Wakes>::default();
    let mut stays = pin!(set.run_until(pending::<()>()));
    assert!(poll(stays.as_mut(), &wakes).is_pending());
    // No task is left, so no other poller is woken.
    assert!(poll(pin!(set.run_until(async {})), &Arc::default()).is_ready());
    assert_eq!(wakes.get(), 0);
    let runs = Cell::new(None);
    let leaves = set.run_until(async { runs.set(Some(spawn_counting(&set, 1))) });
    {
        let mut leaves = pin!(leaves);
        assert!(poll(leaves.as_mut(), &Arc::default()).is_ready());
        assert_eq!(wakes.get(), 0);
    }
    assert_eq!(wakes.get(), 1);
    assert!(poll(stays, &wakes).is_pending());
    assert_eq!(runs.take().unwrap().get(), 1);
}

#[test]
fn a_set_that_is_dropped_drops_its_tasks() {
    let mut set = LocalSet::new(|| true);
    let waiting = spawn_pending(&set);
    let gate = Gate::default();
    let woken = set.spawn_local(gate.clone());
    assert!(poll(Pin::new(&mut set), &Arc::default()).is_pending());
    // The woken task has been pushed when the drop of the set collects the tasks to cancel.
    thread::spawn(move || gate.open()).join().unwrap();
    let due = spawn_pending(&set);
    drop(set);
    assert!(woken.is_finished());
    assert_eq!((waiting.strong_count(), due.strong_count()), (0, 0));
}

#[test]
fn a_task_for_a_set_that_was_dropped_is_cancelled_on_the_spot() {
    let set = LocalSet::new(|| true);
    let _guard = set.enter();
    drop(set);
    let set = CurrentLocalSet::get().unwrap();
    let mut handle = set.spawn_local(async { unreachable!("it was cancelled") });
    let Poll::Ready(Err(error)) = poll::<JoinHandle<()>>(Pin::new(&mut handle), &Arc::default())
    else {
        panic!("it has ended");
    };
    assert!(error.is_cancelled());
}

/// Returns whether a poll of the set panics because of a task.
/// A set that the panic of a task has closed.
fn closed_set() -> LocalSet {
    let mut set = LocalSet::new(|| true);
    set.shut_down_on_panic(true);
    spawn_panicking(&set);
    assert!(shuts_down(&mut set));
    set
}

/// Bug: own (a closed set waited for the task of which it was a part).
#[test]
fn a_closed_set_may_be_dropped_by_a_task_for_it() {
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let set = closed_set();
        let _entered = set.enter();
        let spawn = |future| CurrentLocalSet::get().unwrap().spawn_local(future);
        // The drop of the first future spawns the second one, which owns the set.
        let owns_set: Pin<Box<dyn Future<Output = ()>>> = Box::pin(async move { drop(set) });
        let spawns = OnDrop(Some(move || assert!(spawn(owns_set).is_finished())));
        let task = CurrentLocalSet::get().unwrap().spawn_local(async move {
            let _spawns = spawns;
        });
        sender.send(task.is_finished()).unwrap();
    });
    let finished = receiver.recv_timeout(std::time::Duration::from_secs(60));
    assert_eq!(finished, Ok(true), "the thread waits for itself");
}

/// Calls a function when it is dropped.
struct OnDrop<F: FnOnce()>(Option<F>);

impl<F: FnOnce()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|f| f());
    }
}

fn shuts_down(set: &mut LocalSet) -> bool {
    catch_unwind(AssertUnwindSafe(|| poll(Pin::new(set), &Arc::default()))).is_err()
}

fn spawn_panicking(set: &LocalSet) {
    drop(set.spawn_local(async { resume_unwind(Box::new("the task's own panic")) }));
}

#[test]
fn with_shut_down_on_panic_a_panic_ends_the_set_at_once() {
    let mut set = LocalSet::new(|| true);
    set.shut_down_on_panic(true);
    let waiting = spawn_pending(&set);
    assert!(!shuts_down(&mut set), "no task has panicked");
    spawn_panicking(&set);
    let runs = spawn_counting(&set, 1);
    assert!(shuts_down(&mut set));
    assert_eq!((runs.get(), waiting.strong_count(), set.len()), (0, 0, 0));
    assert!(shuts_down(&mut set), "only one poll has panicked");
    let ready = AssertUnwindSafe(|| poll(pin!(set.run_until(async {})), &Arc::default()));
    assert!(
        catch_unwind(ready).is_err(),
        "a future beside the set goes on"
    );
}

#[test]
fn a_panic_does_not_end_a_set_without_shut_down_on_panic() {
    let mut set = LocalSet::new(|| true);
    spawn_panicking(&set);
    assert!(!shuts_down(&mut set));
    // Nor does it later.
    set.shut_down_on_panic(true);
    let runs = spawn_counting(&set, 1);
    assert!(!shuts_down(&mut set));
    assert_eq!(runs.get(), 1);
}

#[test]
fn a_panic_that_ends_the_set_wakes_its_other_drivers() {
    let mut set = LocalSet::new(|| true);
    set.shut_down_on_panic(true);
    let set = set;
    let wakes = Arc::<Wakes>::default();
    let mut waits = pin!(set.run_until(pending::<()>()));
    assert!(poll(waits.as_mut(), &wakes).is_pending());
    let panics = AssertUnwindSafe(|| {
        let panics = set.run_until(async {
            spawn_panicking(&set);
            pending::<()>().await;
        });
        poll(pin!(panics), &Arc::default())
    });
    assert!(catch_unwind(panics).is_err());
    assert_eq!(wakes.get(), 1);
    assert!(catch_unwind(AssertUnwindSafe(|| poll(waits, &wakes))).is_err());
}
