//! Compares timers on a virtual clock with a list of deadlines, over all levels of the wheel and
//! thousands of years (tokio 8334).

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use raddle_primitives::sync::Mutex;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_timer::{Handle, Instant, Sleep, Timers, sleep_until};

use crate::Choices;

/// Microseconds in a tick.
const TICK: u64 = 1000;
/// The last tick of any timer: 4,400 years.
const LAST: u64 = 1 << 47;
const TIMERS: usize = 12;

/// The timers whose wakers were called, in order.
type Log = Arc<Mutex<Vec<usize>>>;

struct Recorder(usize, Log);

impl Wake for Recorder {
    fn wake(self: Arc<Self>) {
        self.1.lock().push(self.0);
    }
}

/// One timer, and its known state. Times are microseconds since the start.
struct Timer {
    sleep: Pin<Box<Sleep>>,
    deadline: u64,
    armed: bool,
    fired: bool,
}

impl Timer {
    /// The tick in which it shall fire.
    fn tick(&self) -> u64 {
        self.deadline.div_ceil(TICK)
    }
}

struct Bench {
    timers: Timers,
    handle: Handle,
    start: Instant,
    now: u64,
    /// The tick of the last `fire_due`.
    fired_to: u64,
    unparks: Arc<AtomicUsize>,
    /// The deadline of the owner's park, if it parks.
    parked: Option<Option<Instant>>,
    all: BTreeMap<usize, Timer>,
    log: Log,
    next: usize,
}

/// Runs random timers until the last tick.
pub fn run(choices: &mut Choices<'_>) {
    let unparks = Arc::new(AtomicUsize::new(0));
    let counter = unparks.clone();
    let timers = Timers::new(Arc::new(move || {
        // ORDERING: Relaxed: one thread counts and reads.
        counter.fetch_add(1, Ordering::Relaxed);
    }));
    let handle = timers.handle();
    handle.pause();
    let mut bench = Bench {
        start: handle.now(),
        handle,
        timers,
        now: 0,
        fired_to: 0,
        unparks,
        parked: None,
        all: BTreeMap::new(),
        log: Log::default(),
        next: 0,
    };
    // The clock stops at a random tick, which need not be the first.
    bench.fire(|timers| timers.fire_due());
    while !choices.is_over() {
        bench.step(choices);
    }
    bench.end(choices.once_in(2));
}

/// Returns a time span of any order of magnitude, often at the boundary of a level.
fn distance(choices: &mut Choices<'_>) -> u64 {
    let unit = 1_u64 << (6 * choices.below(8));
    let ticks = match choices.below(6) {
        0 => unit - 1,
        1 => unit,
        2 => unit + 1,
        3 => unit * choices.below(64) as u64,
        4 => choices.below(4) as u64,
        _ => choices.bits(20),
    };
    let within = match choices.below(8) {
        0 => 1,
        1 => TICK - 1,
        _ => 0,
    };
    ticks * TICK + within
}

impl Bench {
    fn instant(&self, micros: u64) -> Instant {
        self.start + Duration::from_micros(micros)
    }

    fn after(&self, choices: &mut Choices<'_>) -> u64 {
        (self.now + distance(choices)).min(LAST * TICK)
    }

    fn unparked(&self) -> bool {
        // ORDERING: Relaxed: one thread counts and reads.
        self.unparks.swap(0, Ordering::Relaxed) > 0
    }

    fn any(&self, choices: &mut Choices<'_>) -> Option<usize> {
        let count = self.all.len();
        let nth = choices.below(count.max(1));
        self.all.keys().nth(nth).copied()
    }

    fn step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(12) {
            0 | 1 if self.all.len() < TIMERS => {
                let deadline = self.after(choices);
                let sleep = {
                    let _entered = self.handle.enter();
                    Box::pin(sleep_until(self.instant(deadline)))
                };
                let timer = Timer {
                    sleep,
                    deadline,
                    armed: false,
                    fired: false,
                };
                self.all.insert(self.next, timer);
                self.poll(self.next);
                self.next += 1;
            }
            2 => {
                if let Some(id) = self.any(choices) {
                    self.poll(id);
                }
            }
            3 | 4 => {
                if let Some(id) = self.any(choices) {
                    let deadline = match choices.once_in(4) {
                        true => self.now.saturating_sub(distance(choices)),
                        false => self.after(choices),
                    };
                    self.reset(id, deadline);
                }
            }
            5 => {
                if let Some(id) = self.any(choices) {
                    self.all.remove(&id);
                }
            }
            6 | 7 => {
                self.advance(choices);
                self.fire(|timers| timers.fire_due());
            }
            8 => self.advance(choices),
            9 => self.park(),
            10 => {
                if self.all.values().any(|timer| timer.armed) {
                    let fired = self.fire(|timers| timers.auto_advance());
                    assert!(fired > 0, "no timer fired after the wait");
                } else {
                    assert_eq!(self.timers.auto_advance(), 0);
                    assert_eq!(self.handle.now(), self.instant(self.now));
                }
            }
            _ => {
                self.park();
                self.wait();
            }
        }
        self.check();
    }

    /// Polls a timer, which must not be ready early.
    fn poll(&mut self, id: usize) {
        let waker = Waker::from(Arc::new(Recorder(id, self.log.clone())));
        let Some(timer) = self.all.get_mut(&id) else {
            return;
        };
        let tick = timer.tick();
        let polled = timer.sleep.as_mut().poll(&mut Context::from_waker(&waker));
        match polled {
            Poll::Ready(()) => {
                assert!(tick <= self.now / TICK, "a timer is early");
                (timer.armed, timer.fired) = (false, true);
            }
            Poll::Pending => {
                assert!(!timer.fired, "a timer has fired, and waits");
                // If its deadline has passed, the next turn fires it.
                timer.armed = true;
                self.earlier(tick);
            }
        }
    }

    fn reset(&mut self, id: usize, deadline: u64) {
        let to = self.instant(deadline);
        let Some(timer) = self.all.get_mut(&id) else {
            return;
        };
        timer.sleep.as_mut().reset(to);
        timer.deadline = deadline;
        timer.fired = false;
        let (tick, armed) = (timer.tick(), timer.armed);
        // A timer whose deadline has passed may fire at once.
        let fired: Vec<_> = std::mem::take(&mut *self.log.lock());
        if !fired.is_empty() {
            assert!(armed && fired == [id] && tick <= self.now / TICK);
            (timer.armed, timer.fired) = (false, true);
        } else if armed {
            self.earlier(tick);
        }
    }

    /// A timer of `tick` is set: a thread whose park ends later must be woken (tokio 3190).
    fn earlier(&mut self, tick: u64) {
        let at = self.instant(tick * TICK);
        let unparked = self.unparked();
        if let Some(until) = self.parked
            && until.is_none_or(|until| at < until)
        {
            assert!(unparked, "the owner would sleep past a timer");
            self.parked = Some(Some(at));
        }
    }

    /// Asks until when the owner may park. The answer must not be later than any timer.
    fn park(&mut self) {
        let until = self.timers.next_deadline();
        let ticks = self.all.values().filter(|timer| timer.armed);
        let earliest = ticks.map(Timer::tick).min();
        match (until, earliest) {
            (None, earliest) => assert_eq!(earliest, None, "a timer is forgotten"),
            (Some(until), Some(earliest)) => assert!(until <= self.instant(earliest * TICK)),
            (Some(_), None) => panic!("the owner waits for nothing"),
        }
        self.unparked();
        self.parked = Some(until);
    }

    /// Waits until then.
    fn wait(&mut self) {
        if let Some(Some(until)) = self.parked {
            let duration = until.saturating_duration_since(self.handle.now());
            self.handle.advance(duration);
            self.unparked();
            self.now += duration.as_micros() as u64;
            self.fire(|timers| timers.fire_due());
        }
    }

    fn advance(&mut self, choices: &mut Choices<'_>) {
        let to = self.after(choices);
        self.unparked();
        self.handle.advance(Duration::from_micros(to - self.now));
        assert!(self.unparked(), "the clock was moved under a sleeper");
        self.now = to;
    }

    /// Fires the timers that are due, no others, and in order.
    fn fire(&mut self, fire: impl FnOnce(&mut Timers) -> usize) -> usize {
        let count = fire(&mut self.timers);
        self.unparked();
        self.parked = None;
        let now = self.handle.now();
        self.now = now.duration_since(self.start).as_micros() as u64;
        self.fired_to = self.now / TICK;
        let woken = std::mem::take(&mut *self.log.lock());
        assert_eq!(woken.len(), count);
        let ticks: Vec<_> = woken.iter().map(|id| self.all[id].tick()).collect();
        assert!(ticks.is_sorted(), "out of order: {ticks:?}");
        for id in &woken {
            let timer = self.all.get_mut(id).expect("woken, and gone");
            assert!(timer.armed && timer.tick() <= self.fired_to, "not due");
            (timer.armed, timer.fired) = (false, true);
        }
        for (id, timer) in &self.all {
            assert!(!timer.armed || timer.tick() > self.fired_to, "{id} is late");
        }
        count
    }

    fn check(&self) {
        assert!(
            self.log.lock().is_empty(),
            "a timer was woken too early or twice"
        );
        for timer in self.all.values() {
            assert_eq!(timer.sleep.is_elapsed(), timer.fired);
        }
    }

    /// Lets all timers fire, or shuts them down.
    fn end(mut self, shutdown: bool) {
        if shutdown {
            self.timers.shutdown();
            let mut woken = std::mem::take(&mut *self.log.lock());
            woken.sort_unstable();
            let armed = self.all.iter().filter(|(_, timer)| timer.armed);
            assert!(armed.map(|(id, _)| *id).eq(woken));
            return;
        }
        while self.all.values().any(|timer| timer.armed) {
            self.park();
            self.wait();
        }
        assert_eq!(self.timers.next_deadline(), None);
    }
}
