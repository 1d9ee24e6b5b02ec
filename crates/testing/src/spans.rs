//! A subscriber that records every span.
#![allow(clippy::disallowed_types, reason = "never modelled")]

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, Once};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Record};
use tracing::{Event, Id, Level, Metadata, Subscriber};

// UNRANKED: of std, for tests alone.
static SPANS: Mutex<Vec<Span>> = Mutex::new(Vec::new());
// UNRANKED: as above.
static WAKES: Mutex<Vec<Woken>> = Mutex::new(Vec::new());
// UNRANKED: as above.
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A function that the subscriber calls.
pub type Spawn = Box<dyn FnOnce()>;

thread_local! {
    /// The spans that this thread has entered.
    static ENTERED: RefCell<Vec<Id>> = const { RefCell::new(Vec::new()) };
    /// A function that the subscriber calls for the next new span.
    static ON_NEW: Cell<Option<Spawn>> = const { Cell::new(None) };
}

struct Span {
    recorded: Recorded,
    handles: usize,
}

/// The recorded data of a span.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Identifies the span.
    pub id: Id,
    /// The target of its metadata.
    pub target: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Whether it was made without a parent.
    pub is_root: bool,
    /// How often it was entered.
    pub enters: usize,
    /// How often it was left.
    pub exits: usize,
    /// Whether its last handle was dropped.
    pub closed: bool,
    fields: HashMap<&'static str, String>,
}

impl Recorded {
    /// The value of a field, as text.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }
}

/// The event of a wake.
#[derive(Clone, Debug)]
pub struct Woken {
    /// The task's span.
    pub span: u64,
    /// The kind of the wake.
    pub op: String,
    /// The span in which the wake happened.
    pub by: Option<Id>,
}

/// The recorded wakes of the task with this span.
pub fn wakes_of(span: &Id) -> Vec<Woken> {
    let wakes = WAKES.lock().unwrap();
    let wakes = wakes.iter().filter(|woken| woken.span == span.into_u64());
    wakes.cloned().collect()
}

/// The recorded warnings of a runtime.
pub fn warnings() -> Vec<String> {
    WARNINGS.lock().unwrap().clone()
}

/// Sets the recorder as the global default subscriber.
pub fn start() {
    static START: Once = Once::new();
    START.call_once(|| tracing::subscriber::set_global_default(Recorder).unwrap());
}

/// The innermost span that this thread has entered.
pub fn current() -> Option<Id> {
    ENTERED.with_borrow(|entered| entered.last().cloned())
}

/// The recorded spans for which `wanted` returns true.
pub fn recorded(wanted: impl Fn(&Recorded) -> bool) -> Vec<Recorded> {
    let spans = SPANS.lock().unwrap();
    let spans = spans.iter().map(|span| &span.recorded);
    spans.filter(|span| wanted(span)).cloned().collect()
}

/// Calls `body`; the subscriber calls `spawn` when `body` creates its first span.
pub fn spawning_by_subscriber<R>(spawn: Spawn, body: impl FnOnce() -> R) -> R {
    ON_NEW.set(Some(spawn));
    body()
}

struct Recorder;

impl Recorder {
    fn with<R>(&self, id: &Id, f: impl FnOnce(&mut Span) -> R) -> R {
        let index = usize::try_from(id.into_u64()).unwrap() - 1;
        f(&mut SPANS.lock().unwrap()[index])
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tokio::task")
            || metadata.target() == "raddle::runtime"
            || metadata.name() == "runtime.resource"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        if let Some(spawn) = ON_NEW.take() {
            spawn();
        }
        let mut fields = Fields(HashMap::new());
        attributes.record(&mut fields);
        let metadata = attributes.metadata();
        let mut spans = SPANS.lock().unwrap();
        let id = Id::from_u64(spans.len() as u64 + 1);
        spans.push(Span {
            recorded: Recorded {
                id: id.clone(),
                target: metadata.target(),
                name: metadata.name(),
                is_root: attributes.is_root(),
                enters: 0,
                exits: 0,
                closed: false,
                fields: fields.0,
            },
            handles: 1,
        });
        id
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(HashMap::new());
        event.record(&mut fields);
        if *event.metadata().level() == Level::WARN {
            return WARNINGS.lock().unwrap().push(fields.0["message"].clone());
        }
        assert_eq!(event.metadata().target(), "tokio::task::waker");
        WAKES.lock().unwrap().push(Woken {
            span: fields.0["task.id"].parse().unwrap(),
            op: fields.0["op"].clone(),
            by: current(),
        });
    }

    fn enter(&self, id: &Id) {
        self.with(id, |span| span.recorded.enters += 1);
        ENTERED.with_borrow_mut(|entered| entered.push(id.clone()));
    }

    fn exit(&self, id: &Id) {
        self.with(id, |span| span.recorded.exits += 1);
        ENTERED.with_borrow_mut(|entered| assert_eq!(entered.pop().as_ref(), Some(id)));
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.with(id, |span| span.handles += 1);
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        self.with(&id, |span| {
            span.handles -= 1;
            span.recorded.closed = span.handles == 0;
            span.recorded.closed
        })
    }
}

struct Fields(HashMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}
