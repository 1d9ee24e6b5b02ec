//! First come, first served: the order of requests, which are events, against that of the answers,
//! which are polls. Workers are stepped.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::common::config;
use crate::common::driver::Events;
use raddle_primitives::sync::{Arc as ModelArc, Mutex};
use raddle_sched::{Config, Handle, Pool, Step, Worker};

/// Connections whose clients send the next request after each answer.
struct Server {
    handle: Handle,
    workers: Vec<Worker>,
    events: ModelArc<Events>,
    log: Arc<Mutex<Log>>,
}

#[derive(Default)]
struct Log {
    /// Of each connection.
    wakers: Vec<Option<Waker>>,
    /// The number of answers when the current request came.
    asked: Vec<usize>,
    /// The connections in the order of their answers.
    answers: Vec<usize>,
    /// The highest number of answers to others that a request has waited for.
    longest: usize,
}

impl Server {
    fn new(config: Config, connections: usize) -> Self {
        let events = Events::new();
        let (handle, workers) = Pool::stepped(config, Some(Events::driver(&events)));
        let log = Arc::new(Mutex::new(Log {
            wakers: vec![None; connections],
            asked: vec![0; connections],
            ..Log::default()
        }));
        let mut server = Self {
            handle,
            workers,
            events,
            log,
        };
        for connection in 0..connections {
            server.accept(connection);
        }
        server
    }

    /// Spawns the task of a connection, and polls it: it waits for the first request.
    fn accept(&mut self, connection: usize) {
        let log = self.log.clone();
        drop(self.handle.spawn(poll_fn(move |cx| {
            let log = &mut *log.lock();
            if log.wakers[connection].replace(cx.waker().clone()).is_some() {
                let waited = log.answers.len() - log.asked[connection];
                log.longest = log.longest.max(waited);
                log.answers.push(connection);
            }
            Poll::<()>::Pending
        })));
        assert_eq!(self.step(0), Step::Ran);
    }

    fn ask(&self, connection: usize) {
        let log = &mut *self.log.lock();
        log.asked[connection] = log.answers.len();
        self.events.raise(log.wakers[connection].clone());
    }

    /// Steps a worker, and has the clients that get an answer ask again.
    fn step(&mut self, worker: usize) -> Step {
        let before = self.log.lock().answers.len();
        let step = self.workers[worker].step();
        let answered = self.log.lock().answers.get(before).copied();
        if let Some(connection) = answered {
            self.ask(connection);
        }
        step
    }

    /// Steps a worker, which parks in between if it is idle.
    fn run(&mut self, worker: usize, steps: usize) {
        for _ in 0..steps {
            if self.step(worker) == Step::Idle
                && self.workers[worker].begin_park().is_some()
                && self.workers[worker].resume_park().is_some()
            {
                return;
            }
        }
    }

    /// The highest number of answers to others that a request has waited for.
    fn longest(&self) -> usize {
        let log = self.log.lock();
        let waits = log.asked.iter().map(|asked| log.answers.len() - asked);
        waits
            .max()
            .max(Some(log.longest))
            .expect("it has connections")
    }
}

#[test]
fn one_worker_answers_in_the_order_of_the_requests() {
    for connections in [50, 200, 1000] {
        let mut server = Server::new(config(1), connections);
        (0..connections).for_each(|it| server.ask(it));
        server.run(0, 20 * connections);
        assert_eq!(server.longest(), connections - 1);
    }
}

/// No request waits for two answers to each of the others.
#[test]
fn two_workers_pass_no_connection_over() {
    for connections in [50, 200, 1000] {
        let mut server = Server::new(config(2), connections);
        (0..connections).for_each(|it| server.ask(it));
        for _ in 0..20 * connections {
            (0..2).for_each(|worker| server.run(worker, 1));
        }
        let longest = server.longest();
        assert!(longest < 2 * connections, "{longest} of {connections}");
    }
}

/// The system has given the processor of a worker with requests in its queue to another thread. No
/// request waits for more than two answers to each of the others, and two ticks.
#[test]
fn requests_do_not_wait_for_an_interrupted_worker() {
    for case in 0..6 {
        let (event_interval, connections) = ([61, 200][case / 3], [50, 200, 1000][case % 3]);
        let config = Config {
            event_interval: Some(event_interval),
            ..config(2)
        };
        let mut server = Server::new(config, connections);
        (0..connections).for_each(|it| server.ask(it));
        let mut longest = 0;
        for round in 0..20 {
            for _ in 0..connections {
                (0..2).for_each(|worker| server.run(worker, 1));
            }
            server.run(round % 2, 10 * connections);
            longest = longest.max(server.longest());
        }
        let limit = 2 * (connections + event_interval as usize);
        assert!(
            longest < limit,
            "{longest} of {connections}, {event_interval} steps a tick"
        );
    }
}
