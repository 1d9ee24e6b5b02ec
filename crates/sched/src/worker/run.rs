//! How a worker runs a task, and what it tells of it.

use std::time::Instant;

use raddle_task::Outcome;

use super::{Core, Step};
use crate::context;
use crate::hooks::TaskMeta;
use crate::task::Task;

impl Core {
    /// Runs a task. Afterwards the worker may be another thread's: that is
    /// `Step::Shutdown`, as far as this thread goes.
    #[inline]
    pub(super) fn run(&self, task: Task) -> Step {
        if self.searching.replace(false) {
            self.end_search();
        }
        let counters = &self.counters;
        counters.polls.add(1);
        let outcome = match self.observes {
            false => self.poll(task),
            true => self.poll_observed(task),
        };
        if !context::is_worker() {
            return self.end_displaced(outcome);
        }
        match outcome {
            Outcome::Idle => {}
            Outcome::Complete => counters.completed.add(1),
            Outcome::Again(task) => {
                counters.local_schedules.add(1);
                self.requeue(Task(task));
                if self.yields.take() {
                    self.count_yield();
                }
            }
            Outcome::CompleteElsewhere => self.count_completed_elsewhere(),
        }
        Step::Ran
    }

    /// Drops the future of a task, in the end.
    pub(crate) fn cancel(&self, task: Task) {
        match self.shared.config.task_hooks.cancel(task.0) {
            Outcome::Idle => {}
            Outcome::Complete => self.counters.completed.add(1),
            Outcome::Again(_) => unreachable!("a cancelled task has no future left to run"),
            Outcome::CompleteElsewhere => self.count_completed_elsewhere(),
        }
    }

    /// Counts a task of another worker's list that has completed here.
    fn count_completed_elsewhere(&self) {
        self.counters.completed.add(1);
        self.counters.completed_elsewhere.add(1);
    }

    /// Ends a run on a thread that was displaced during it: nothing that changes
    /// of the worker is looked at.
    #[cold]
    fn end_displaced(&self, outcome: Outcome) -> Step {
        match outcome {
            Outcome::Idle => {}
            Outcome::Complete => unreachable!("the list that went away has the task"),
            Outcome::Again(task) => self.shared.inject(Task(task)),
            Outcome::CompleteElsewhere => {
                let _ended = self.shared.ended.lock();
                self.shared.completed_displaced.add(1);
            }
        }
        Step::Shutdown
    }

    /// Leaves the search to another worker if there is anything more to find.
    #[cold]
    fn end_search(&self) {
        if self.shared.idle.end_search(self.index) && self.shared.has_work() {
            self.shared.notify();
        }
    }

    /// Counts a poll in the middle of a step, unless a turn is due first. Returns whether it was
    /// counted.
    #[inline]
    pub(crate) fn count_nested_poll(&self) -> bool {
        self.turns.nested_step()
    }

    /// Has the next step look whether the scheduler is shutting down.
    pub(crate) fn end_soon(&self) {
        self.turns.look_next();
    }

    #[inline]
    fn poll(&self, task: Task) -> Outcome {
        raddle_coop::budget(|| {
            let outcome = task.0.run_in(&self.live);
            // One whose budget ran out has yielded, too.
            if matches!(outcome, Outcome::Again(_))
                && !raddle_coop::has_budget_remaining()
                && context::is_worker()
            {
                self.counters.budget_yields.add(1);
                self.note_yield();
            }
            outcome
        })
    }

    /// Polls a task for somebody who wants to know.
    #[cold]
    fn poll_observed(&self, task: Task) -> Outcome {
        let hooks = &self.shared.config.task_hooks;
        let meta = TaskMeta::of(&task.0);
        hooks.before_poll(&meta);
        let outcome = match &self.counters.poll_times {
            None => self.poll(task),
            Some(histogram) => {
                let start = Instant::now();
                let outcome = self.poll(task);
                if context::is_worker() {
                    histogram.record(start.elapsed());
                }
                outcome
            }
        };
        hooks.after_poll(&meta);
        hooks.ended(&meta, &outcome);
        outcome
    }
}
