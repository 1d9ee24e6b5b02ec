//! Compares the wheel with a sorted map of the expected timers.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::task::{Wake, Waker};

use raddle_primitives::sync::Mutex;

use super::*;
use crate::state::{Postpone, State};

const YEAR: u64 = 365 * 24 * 60 * 60 * 1000;

/// Marsaglia's xorshift. It starts from a fixed state, so a failure repeats.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A distance of any order of magnitude, often at the boundary of a level. Large distances are
    /// rarer, so that the ticks do not run out at once.
    fn distance(&mut self) -> u64 {
        let levels = 1 + self.below(LEVELS as u64);
        let unit = 1 << (DIGIT_BITS as u64 * self.below(levels));
        match self.below(4) {
            0 => unit - 1,
            1 => unit,
            2 => unit + 1,
            _ => self.below(unit * SLOTS as u64),
        }
    }
}

struct Recorder {
    id: usize,
    fired: Arc<Mutex<Vec<usize>>>,
}

impl Wake for Recorder {
    fn wake(self: Arc<Self>) {
        self.fired.lock().push(self.id);
    }
}

/// A wheel, its nodes, and the tick at which each armed node should fire.
struct Fixture {
    wheel: Wheel,
    nodes: Box<[Node]>,
    expected: BTreeSet<(u64, usize)>,
    fired: Arc<Mutex<Vec<usize>>>,
    now: u64,
}

impl Fixture {
    fn new(nodes: usize) -> Self {
        Self {
            wheel: Wheel::new(),
            nodes: (0..nodes).map(|_| Node::new(State::idle())).collect(),
            expected: BTreeSet::new(),
            fired: Arc::default(),
            now: 0,
        }
    }

    fn is_armed(&self, id: usize) -> bool {
        self.nodes[id].state.load().is_armed()
    }

    fn insert(&mut self, id: usize, tick: u64) {
        let waker = Waker::from(Arc::new(Recorder {
            id,
            fired: Arc::clone(&self.fired),
        }));
        let node = &self.nodes[id];
        // SAFETY: the node is not armed, and the fixture owns it.
        unsafe { node.set_waker(waker) };
        // SAFETY: the node does not move, is not linked, and outlives its link in the wheel.
        match unsafe { self.wheel.insert(NonNull::from(node), tick) } {
            Insert::Armed => {
                assert!(tick > self.now);
                self.expected.insert((tick, id));
            }
            Insert::Elapsed => {
                assert!(tick <= self.now);
                // SAFETY: the node was not armed.
                drop(unsafe { node.copy_waker().into_waker() });
            }
        }
    }

    fn cancel(&mut self, id: usize) {
        let node = &self.nodes[id];
        assert!(self.expected.remove(&(node.state.tick(), id)));
        // SAFETY: the node is armed, and its phase ends here.
        unsafe {
            let _ = self.wheel.remove(NonNull::from(node));
            drop(node.copy_waker().into_waker());
        }
        node.state.transition_to_idle();
    }

    fn reset(&mut self, id: usize, tick: u64) {
        let former = self.nodes[id].state.tick();
        match self.nodes[id].state.transition_to_later(tick) {
            Postpone::Done => {
                assert!(self.expected.remove(&(former, id)));
                self.expected.insert((tick, id));
            }
            Postpone::Sooner => {
                self.cancel(id);
                self.insert(id, tick);
            }
        }
    }

    fn advance(&mut self, now: u64) {
        assert!(now >= self.now);
        self.now = now;
        loop {
            let mut batch = WakerBatch::new();
            let progress = self.wheel.fire(now, &mut batch);
            batch.wake_all();
            if progress == Progress::Done {
                break;
            }
        }
        let later = self.expected.split_off(&(now + 1, 0));
        let due = std::mem::replace(&mut self.expected, later);
        let fired = std::mem::take(&mut *self.fired.lock());
        let mut ticks = due
            .iter()
            .map(|&(tick, id)| (id, tick))
            .collect::<std::collections::HashMap<_, _>>();
        let order: Vec<u64> = fired
            .iter()
            .map(|id| ticks.remove(id).expect("fired once, and only if due"))
            .collect();
        assert!(ticks.is_empty(), "lost by tick {now}: {ticks:?}");
        assert!(order.is_sorted(), "out of order: {order:?}");
        for (_, id) in due {
            assert!(self.nodes[id].state.load().is_fired());
        }
        self.check_next();
    }

    /// Does the first step of an insertion: moves the wheel to `now`, or to the first timer before
    /// it.
    fn skip(&mut self, now: u64) {
        self.wheel.skip_to(now);
        assert!(self.wheel.elapsed >= self.now, "the wheel never moves back");
        self.now = self.wheel.elapsed;
        self.check_next();
    }

    fn check_next(&self) {
        match (self.wheel.next_tick(), self.expected.first()) {
            (None, None) => {}
            (Some(next), Some(&(tick, _))) => {
                assert!(
                    self.now < next && next <= tick,
                    "{next} is not in {}..={tick}",
                    self.now
                );
            }
            (next, tick) => panic!("next slot {next:?}, earliest timer {tick:?}"),
        }
    }

    fn random_step(&mut self, random: &mut Random) {
        let id = random.below(self.nodes.len() as u64) as usize;
        let tick = (self.now + random.distance()).min(MAX_TICK);
        match random.below(8) {
            0..=2 if !self.is_armed(id) => self.insert(id, tick),
            3 if self.is_armed(id) => self.cancel(id),
            4 if self.is_armed(id) => self.reset(id, tick),
            5 => {
                let step = random.below(tick - self.now + 1) >> random.below(24);
                self.advance(self.now + step);
            }
            6 if random.below(2) == 0 => {
                let distance = random.distance() >> random.below(24);
                self.skip((self.now + distance).min(tick));
            }
            6 => {
                if let Some(next) = self.wheel.next_tick() {
                    self.advance((next - random.below(2)).max(self.now));
                    self.advance(next);
                }
            }
            _ => {}
        }
        self.check_next();
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        for id in 0..self.nodes.len() {
            if self.is_armed(id) && !std::thread::panicking() {
                self.cancel(id);
            }
        }
    }
}

#[test]
fn the_wheel_agrees_with_a_sorted_map() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut crossed = 0;
    for _ in 0..200 {
        let mut fixture = Fixture::new(50);
        for _ in 0..1_000 {
            fixture.random_step(&mut random);
        }
        crossed += u32::from(fixture.now > 1 << 30) * u32::from(fixture.now < MAX_TICK);
        let last = fixture.expected.last().map_or(0, |&(tick, _)| tick);
        fixture.advance(last.max(fixture.now));
        assert_eq!(fixture.wheel.next_tick(), None);
    }
    assert!(crossed > 150, "most rounds end in the middle of the range");
}

#[test]
fn the_wheel_agrees_with_a_sorted_map_over_years_of_short_steps() {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    let mut fixture = Fixture::new(64);
    while fixture.now < 100 * YEAR {
        for id in 0..fixture.nodes.len() {
            if !fixture.is_armed(id) {
                let tick = fixture.now + 1 + random.below(YEAR / 4);
                fixture.insert(id, tick);
            }
        }
        let step = random.below(YEAR / 20);
        fixture.advance(fixture.now + step);
    }
}

/// tokio 8334.
#[test]
fn every_boundary_of_every_level_is_crossed() {
    for level in 1..LEVELS as u32 {
        let unit = 1_u64 << (DIGIT_BITS * level);
        for turn in [1, 2, 63, 64, 65] {
            let Some(boundary) = unit.checked_mul(turn).filter(|&at| at < MAX_TICK) else {
                continue;
            };
            let mut fixture = Fixture::new(4);
            fixture.advance(boundary - 2);
            fixture.insert(0, boundary - 1);
            fixture.insert(1, boundary);
            fixture.insert(2, boundary + 1);
            fixture.insert(3, (boundary + unit).min(MAX_TICK));
            for tick in boundary - 1..=boundary + 1 {
                fixture.advance(tick);
            }
            assert_eq!(fixture.expected.len(), 1);
            fixture.advance((boundary + unit).min(MAX_TICK));
            assert!(fixture.expected.is_empty());
        }
    }
}

#[test]
fn the_end_of_the_range_fires() {
    let mut fixture = Fixture::new(3);
    fixture.insert(0, MAX_TICK);
    fixture.insert(1, MAX_TICK - 1);
    fixture.advance(MAX_TICK - 1);
    assert_eq!(fixture.expected.len(), 1);
    fixture.advance(MAX_TICK);
    assert!(fixture.expected.is_empty());
    fixture.insert(2, MAX_TICK);
    assert!(!fixture.is_armed(2));
}

#[test]
fn timers_of_one_tick_fire_in_the_order_of_their_insertion() {
    let mut fixture = Fixture::new(100);
    for id in 0..100 {
        fixture.insert(id, 5_000);
    }
    let mut order = Vec::new();
    loop {
        let mut batch = WakerBatch::new();
        let progress = fixture.wheel.fire(5_000, &mut batch);
        batch.wake_all();
        order.append(&mut fixture.fired.lock());
        if progress == Progress::Done {
            break;
        }
    }
    assert_eq!(order, (0..100).collect::<Vec<_>>());
}

/// Forty timers, more than a batch, are due at the tick at which a slot of level 1 starts. They
/// come after a timer of the next tick. None of them may stay in level 1.
#[test]
fn a_slot_of_a_higher_level_is_moved_down_whole_before_anything_fires() {
    for level in 1..LEVELS as u32 {
        let start = 1 << (DIGIT_BITS * level);
        let mut fixture = Fixture::new(41);
        fixture.insert(0, start + 1);
        for id in 1..41 {
            fixture.insert(id, start);
        }
        fixture.advance(start);
        assert_eq!(fixture.expected.len(), 1);
        fixture.advance(start + 1);
        assert!(fixture.expected.is_empty());
    }
}

#[test]
fn a_cancelled_timer_leaves_the_others_of_its_tick_in_order() {
    for cancelled in 0..4 {
        let mut fixture = Fixture::new(4);
        for id in 0..4 {
            fixture.insert(id, 100);
        }
        fixture.cancel(cancelled);
        let mut batch = WakerBatch::new();
        assert_eq!(fixture.wheel.fire(100, &mut batch), Progress::Done);
        batch.wake_all();
        let order = std::mem::take(&mut *fixture.fired.lock());
        let expected: Vec<_> = (0..4).filter(|&id| id != cancelled).collect();
        assert_eq!(order, expected);
    }
}

/// A timer that is set after an idle time is placed relative to the current time. If it is near
/// enough it goes to level 0, so it need not move through the levels.
#[test]
fn a_wheel_skips_an_idle_time() {
    for later in [None, Some(1 << 20)] {
        let mut fixture = Fixture::new(2);
        if let Some(tick) = later {
            fixture.insert(0, tick);
        }
        for now in [5_000, 5_001, 9_999, 70_000] {
            fixture.skip(now);
            assert_eq!(fixture.now, now);
            fixture.insert(1, now + 1);
            assert_eq!(fixture.wheel.next_tick(), Some(now + 1), "in level 0");
            fixture.cancel(1);
        }
        fixture.skip(60_000);
        assert_eq!(fixture.now, 70_000, "the wheel never moves back");
        fixture.advance(1 << 20);
    }
}

/// The wheel does not even skip to the start of the slot of the next timer.
#[test]
fn a_wheel_does_not_skip_a_timer() {
    for level in 0..LEVELS as u32 {
        let start: u64 = 5 << (DIGIT_BITS * level);
        for now in [start, start + 1, start * 8] {
            let mut fixture = Fixture::new(3);
            fixture.insert(0, start);
            fixture.skip(now);
            assert_eq!(fixture.now, 0);
            fixture.insert(1, start + 1);
            fixture.advance(start);
            assert_eq!(fixture.expected.len(), 1);
            fixture.advance(start + 1);
            assert!(fixture.expected.is_empty());
        }
    }
}

#[test]
fn a_slot_may_change_after_a_full_batch_left_timers_in_it() {
    let mut fixture = Fixture::new(40);
    for id in 0..40 {
        fixture.insert(id, 70);
    }
    let mut batch = WakerBatch::new();
    assert_eq!(fixture.wheel.fire(100, &mut batch), Progress::BatchFull);
    let rest: Vec<usize> = (0..40).filter(|&id| fixture.is_armed(id)).collect();
    assert_eq!(batch.len() + rest.len(), 40);
    batch.wake_all();
    fixture.now = 70;
    fixture.cancel(rest[0]);
    fixture.reset(rest[1], 71);
    fixture.reset(rest[2], 3_000);
    let before: Vec<usize> = fixture.fired.lock().drain(..).collect();
    fixture.expected.retain(|(_, id)| !before.contains(id));
    fixture.insert(before[0], 80);
    fixture.advance(100);
    assert_eq!(fixture.expected.len(), 1);
}

#[test]
fn shutting_down_takes_out_every_timer_once() {
    let mut fixture = Fixture::new(100);
    let mut random = Random(7);
    for id in 0..100 {
        let tick = 1 + random.distance();
        fixture.insert(id, tick);
    }
    loop {
        let mut batch = WakerBatch::new();
        let progress = fixture.wheel.shut_down(&mut batch);
        batch.wake_all();
        if progress == Progress::Done {
            break;
        }
    }
    let mut woken = std::mem::take(&mut *fixture.fired.lock());
    woken.sort_unstable();
    assert_eq!(woken, (0..100).collect::<Vec<_>>());
    assert!(
        fixture
            .nodes
            .iter()
            .all(|node| node.state.load().is_shut_down())
    );
}
