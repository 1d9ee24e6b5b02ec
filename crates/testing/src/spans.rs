//! A subscriber that records every span.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, Once};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Record};
use tracing::{Event, Id, Level, Metadata, Subscriber};

static SPANS: Mutex<Vec<Span>> = Mutex::new(Vec::new());
static WAKES: Mutex<Vec<Woken>> = Mutex::new(Vec::new());
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

type Spawn = Box<dyn FnOnce()>;

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
pub(crate) struct Recorded {
    pub(crate) id: Id,
    pub(crate) target: &'static str,
    pub(crate) name: &'static str,
    pub(crate) is_root: bool,
    pub(crate) enters: usize,
    pub(crate) exits: usize,
    pub(crate) closed: bool,
    fields: HashMap<&'static str, String>,
}

impl Recorded {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(String::as_str)
    }
}

/// The event of a wake.
#[allow(dead_code, reason = "the tests of raddle-task do not check wakes")]
#[derive(Clone, Debug)]
pub(crate) struct Woken {
    /// The task's span.
    pub(crate) span: u64,
    pub(crate) op: String,
    /// The span in which the wake happened.
    pub(crate) by: Option<Id>,
}

/// The recorded wakes of the task with this span.
#[allow(dead_code, reason = "as above")]
pub(crate) fn wakes_of(span: &Id) -> Vec<Woken> {
    let wakes = WAKES.lock().unwrap();
    let wakes = wakes.iter().filter(|woken| woken.span == span.into_u64());
    wakes.cloned().collect()
}

/// The recorded warnings of a runtime.
#[allow(dead_code, reason = "as above")]
pub(crate) fn warnings() -> Vec<String> {
    WARNINGS.lock().unwrap().clone()
}

/// Sets the recorder as the global default subscriber.
pub(crate) fn start() {
    static START: Once = Once::new();
    START.call_once(|| tracing::subscriber::set_global_default(Recorder).unwrap());
}

/// The innermost span that this thread has entered.
pub(crate) fn current() -> Option<Id> {
    ENTERED.with_borrow(|entered| entered.last().cloned())
}

/// The recorded spans for which `wanted` returns true.
pub(crate) fn recorded(wanted: impl Fn(&Recorded) -> bool) -> Vec<Recorded> {
    let spans = SPANS.lock().unwrap();
    let spans = spans.iter().map(|span| &span.recorded);
    spans.filter(|span| wanted(span)).cloned().collect()
}

/// Calls `body`; the subscriber calls `spawn` when `body` creates its first span.
pub(crate) fn spawning_by_subscriber<R>(spawn: Spawn, body: impl FnOnce() -> R) -> R {
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
