//! Writes a recording of a simulation: what the runtimes of its hosts do, and what happens between
//! the hosts.
//!
//! One thread of a simulation runs at a time, so that all entries are in one order, which their
//! times keep: an entry has the time of the simulation, or a nanosecond more than the one before if
//! that is later. Code takes no time in a simulation; in its recording a poll has a length, and
//! what it causes comes after it.
//!
//! Code of hosts runs while entries are added, but its random numbers must stay the same: nothing
//! here has a hash map, whose keys the thread would take from the host.

mod observer;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::path::Path;

use raddle_primitives::sync::Mutex;
use raddle_recording::{Entry, Event, Recording, StringId, Thread, Writer};
use raddle_task::Id;

use crate::clock::Clock;
use crate::context;
use crate::engine::Down;
use crate::kernel::link::Fate;

pub(crate) use observer::HostObserver;

/// The number of entries that are written at once. The end of the process loses fewer.
const PIECE: usize = 256;
/// The process and the track of what concerns no single host.
const SIMULATION: &str = "simulation";
const EVENTS: &str = "events";
/// The track of what a host does outside its own code.
const KERNEL: &str = "kernel";

/// The track of what the calling thread does.
#[derive(Clone, Copy)]
enum Track {
    /// That of the kernel of the host in question.
    Kernel,
    /// That of the worker that it steps, from the worker's first entry on.
    Worker,
    /// One of its own, which it gets at its first entry.
    NewThread,
    /// The one with this number.
    Known(u64),
}

thread_local! {
    static TRACK: Cell<Track> = const { Cell::new(Track::Kernel) };
}

/// The calling thread, which code of a host has started, has a track of its own.
pub(crate) fn begin_thread() {
    TRACK.with(|track| track.set(Track::NewThread));
}

/// The calling thread is about to step a worker.
pub(crate) fn enter_worker() {
    TRACK.with(|track| track.set(Track::Worker));
}

/// The calling thread has stepped a worker.
pub(crate) fn leave_worker() {
    TRACK.with(|track| track.set(Track::Kernel));
}

/// Writes the recording of one simulation.
pub(crate) struct Recorder {
    // UNRANKED: the kernel calls it under its lock. No lock is taken under it.
    state: Mutex<State>,
}

struct State {
    /// The time of the simulation.
    now: u64,
    /// The time of the last entry.
    last: u64,
    strings: BTreeMap<String, StringId>,
    hosts: Vec<Host>,
    on_the_way: BTreeMap<u64, Packet>,
    /// What is not written yet, with all threads.
    piece: Recording,
    entries: usize,
    file: Option<Writer<File>>,
    /// The first error of the file.
    error: Option<io::Error>,
}

/// The tracks of a host.
struct Host {
    name: String,
    kernel: u64,
    /// Spare workers follow the others.
    workers: BTreeMap<usize, Worker>,
}

#[derive(Clone, Copy)]
struct Worker {
    track: u64,
    is_polling: bool,
}

struct Packet {
    from: usize,
    to: usize,
    what: String,
}

impl Recorder {
    /// Creates the file.
    pub(crate) fn create(path: &Path, hosts: &[String]) -> io::Result<Self> {
        let mut state = State {
            now: 0,
            last: 0,
            strings: BTreeMap::new(),
            hosts: Vec::new(),
            on_the_way: BTreeMap::new(),
            piece: Recording {
                origin: Clock::default().at(0).realtime,
                ..Recording::default()
            },
            entries: 0,
            file: Some(Writer::new(File::create(path)?)?),
            error: None,
        };
        state.add_track(SIMULATION, EVENTS);
        for name in hosts {
            let kernel = state.add_track(name, KERNEL);
            state.hosts.push(Host {
                name: name.clone(),
                kernel,
                workers: BTreeMap::new(),
            });
        }
        Ok(Self {
            // UNRANKED: see the field.
            state: Mutex::new(state),
        })
    }

    /// Calls `f` as code of the simulation, since code of hosts calls the recorder, too.
    fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        context::as_kernel(|| f(&mut self.state.lock()))
    }

    /// Writes what is left. Nothing is recorded after that.
    pub(crate) fn finish(&self) -> io::Result<()> {
        self.with(|state| {
            state.write();
            state.file = None;
            state.error.take().map_or(Ok(()), Err)
        })
    }

    /// The next event of the simulation, with this number, happens at this time. If it is a packet,
    /// `missing` says by the numbers of its hosts why it does not arrive.
    pub(crate) fn advance(
        &self,
        now: u64,
        number: u64,
        missing: impl FnOnce(usize, usize) -> Option<&'static str>,
    ) {
        self.with(|state| {
            state.now = now;
            let Some(Packet { from, to, what }) = state.on_the_way.remove(&number) else {
                return;
            };
            let kernel = state.hosts[to].kernel;
            let missing = missing(from, to);
            let from = &state.hosts[from].name;
            let text = match missing {
                None => format!("{what} from {from}"),
                Some(reason) => format!("{what} from {from}, {reason}"),
            };
            let text = state.text(text);
            let event = match missing {
                None => Event::MessageArrived {
                    message: number,
                    text,
                },
                Some(_) => Event::MessageLost { text },
            };
            state.push(kernel, event);
        });
    }

    /// A packet is sent. Its arrival is the event of the simulation with this number.
    pub(crate) fn packet(&self, number: u64, (from, to): (usize, usize), what: String, fate: Fate) {
        self.with(|state| {
            let text = state.text(format!("{what} to {}", state.hosts[to].name));
            let track = state.current(from);
            let event = match fate {
                Fate::Arrives(_) => {
                    state.on_the_way.insert(number, Packet { from, to, what });
                    Event::MessageSent {
                        message: number,
                        text,
                    }
                }
                Fate::Lost => Event::MessageLost { text },
                Fate::Held => Event::Marked {
                    text: state.text(format!("hold {what} to {}", state.hosts[to].name)),
                },
            };
            state.push(track, event);
        });
    }

    /// A fault begins or ends.
    pub(crate) fn fault(&self, name: &str, begins: bool) {
        self.with(|state| {
            let text = state.text(name.to_owned());
            let event = match begins {
                true => Event::FaultStarted { text },
                false => Event::FaultEnded { text },
            };
            state.push(state.simulation(), event);
        });
    }

    /// The simulation ends, for this reason if it has failed.
    pub(crate) fn end(&self, failure: Option<&str>) {
        self.with(|state| {
            let text = state.text(match failure {
                Some(failure) => format!("failure: {failure}"),
                None => "the clients have ended".to_owned(),
            });
            state.push(state.simulation(), Event::Marked { text });
        });
    }

    /// The task that runs the future of a host is spawned.
    pub(crate) fn main_task(&self, host: usize, task: Id) {
        self.add(host, |state| Event::TaskNamed {
            task: NonZeroU64::from(task).get(),
            name: state.text("main".to_owned()),
        });
    }

    /// A host goes down.
    pub(crate) fn stop(&self, host: usize, how: Down) {
        self.with(|state| {
            let text = state.text(match how {
                Down::Crashed => "crash".to_owned(),
                Down::Killed => "kill".to_owned(),
                Down::Ended => "end of the simulation".to_owned(),
            });
            state.push(state.hosts[host].kernel, Event::Marked { text });
            // A poll that blocks goes on; the next worker of this number gets another track.
            state.hosts[host].workers.retain(|_, it| !it.is_polling);
            for (worker, it) in state.hosts[host].workers.clone() {
                let worker = small(worker);
                state.push(it.track, Event::WorkerUnparked { worker });
            }
        });
    }
}

/// What the observer of a host calls.
impl Recorder {
    /// Adds an event of code of a host.
    fn add(&self, host: usize, event: impl FnOnce(&mut State) -> Event) {
        self.with(|state| {
            let event = event(state);
            let track = state.current(host);
            state.push(track, event);
        });
    }

    /// Adds an event of a worker, which the calling thread steps or drops.
    fn add_of_worker(&self, host: usize, worker: usize, event: Event) {
        self.with(|state| {
            let track = match TRACK.with(Cell::get) {
                // Also if the host has crashed meanwhile, and has another worker of this number.
                Track::Known(track) => track,
                Track::Worker => {
                    let track = state.worker(host, worker).track;
                    TRACK.with(|current| current.set(Track::Known(track)));
                    track
                }
                Track::Kernel | Track::NewThread => state.worker(host, worker).track,
            };
            state.push(track, event);
            let is_polling = match event {
                Event::PollStarted { .. } => true,
                Event::PollFinished { .. } => false,
                _ => return,
            };
            let mut workers = state.hosts[host].workers.values_mut();
            if let Some(worker) = workers.find(|it| it.track == track) {
                worker.is_polling = is_polling;
            }
        });
    }
}

impl State {
    fn simulation(&self) -> u64 {
        1
    }

    fn add_track(&mut self, process: &str, name: &str) -> u64 {
        let number = self.piece.threads.len() as u64 + 1;
        let thread = Thread {
            // Perfetto shows them in this order.
            os_id: number,
            process: process.to_owned(),
            name: name.to_owned(),
            ..Thread::default()
        };
        self.piece.threads.insert(number, thread);
        number
    }

    /// The track of what the calling thread does for a host.
    fn current(&mut self, host: usize) -> u64 {
        match TRACK.with(Cell::get) {
            Track::Kernel | Track::Worker => self.hosts[host].kernel,
            Track::Known(track) => track,
            Track::NewThread => {
                let process = self.hosts[host].name.clone();
                let thread = std::thread::current();
                let track = self.add_track(&process, thread.name().unwrap_or("thread"));
                TRACK.with(|current| current.set(Track::Known(track)));
                track
            }
        }
    }

    fn worker(&mut self, host: usize, worker: usize) -> &mut Worker {
        if !self.hosts[host].workers.contains_key(&worker) {
            let process = self.hosts[host].name.clone();
            let new = Worker {
                track: self.add_track(&process, &format!("worker {worker}")),
                is_polling: false,
            };
            self.hosts[host].workers.insert(worker, new);
        }
        let workers = &mut self.hosts[host].workers;
        workers.get_mut(&worker).expect("it was added above")
    }

    fn text(&mut self, text: String) -> StringId {
        if let Some(id) = self.strings.get(&text) {
            return *id;
        }
        let number = u32::try_from(self.strings.len() + 1).ok();
        let id = number.and_then(StringId::new).unwrap_or(StringId::UNKNOWN);
        self.piece.strings.insert(id, text.clone());
        self.strings.insert(text, id);
        id
    }

    fn push(&mut self, track: u64, event: Event) {
        if self.file.is_none() {
            return;
        }
        let time = self.now.max(self.last + 1);
        self.last = time;
        let thread = self.piece.threads.get_mut(&track);
        let thread = thread.expect("a track is added before its entries");
        thread.entries.push(Entry { time, event });
        self.entries += 1;
        if self.entries == PIECE {
            self.write();
        }
    }

    fn write(&mut self) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.append(&self.piece) {
            self.error = Some(error);
            self.file = None;
        }
        self.entries = 0;
        self.piece.strings.clear();
        for thread in self.piece.threads.values_mut() {
            thread.entries.clear();
        }
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
