//! Spans of the crate `tracing`, for the tools.

use std::fmt::{self, Write};
use std::sync::Arc;

use raddle_primitives::current;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Subscriber, field};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use crate::runtime::Handle;
use crate::runtime::tools::SpanListener;

/// The maximum length of the text of a span, in bytes.
const MAX_TEXT: usize = 240;
/// The target of the runtime's own spans of tasks and blocking work, and of those within it.
const OWN_TARGET: &str = "tokio::task";

/// A layer for a subscriber of `tracing` that shows the tools of the runtime in which span each
/// thread and task is. A task of a service then has the name of its request: task dumps have it,
/// and other tools that describe a task.
///
/// The text of a span is its name and, in braces, its field `otel.name` or else `name`, such as
/// `request{GET /users}`. A span without these has all its fields there, such as
/// `request{method=GET path="/users"}`, as the spans of tower-http do. The spans around it stand
/// before it, as in `request{GET /users}:query`. The text has at most 240 bytes.
///
/// A recording has the names of spans, without fields.
///
/// The layer does nothing in a runtime without such tools. In one with task dumps, entering and
/// leaving a span costs about as much as a lock.
///
/// ```
/// use raddle::runtime::{Builder, SpanLayer};
/// use tracing::Instrument;
/// use tracing_subscriber::layer::SubscriberExt;
///
/// let subscriber = tracing_subscriber::registry().with(SpanLayer::new());
/// // A program calls tracing::subscriber::set_global_default.
/// # let _default = tracing::subscriber::set_default(subscriber);
/// let runtime = Builder::new_current_thread().build()?;
/// runtime.block_on(async {
///     let request = tracing::info_span!("request", name = "GET /users");
///     raddle::spawn(async {}.instrument(request)).await.unwrap();
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct SpanLayer(());

/// The text of a span, in its extensions.
struct SpanText(Arc<str>);

impl SpanLayer {
    /// Makes the layer.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<S> Layer<S> for SpanLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let target = attributes.metadata().target();
        let is_own = target.starts_with(OWN_TARGET);
        let Some(span) = context.span(id).filter(|_| !is_own) else {
            return;
        };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let text = fields.text(outer(&span), span.name());
        span.extensions_mut().insert(SpanText(text));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        let has_name = fields.name.is_some() || fields.otel_name.is_some();
        if let Some(span) = context.span(id).filter(|_| has_name) {
            let text = fields.text(outer(&span), span.name());
            span.extensions_mut().replace(SpanText(text));
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        notify(|listeners| {
            let Some(span) = context.span(id) else { return };
            if let Some(text) = text_of(&span) {
                listeners
                    .iter()
                    .for_each(|it| it.entered(span.name(), &text));
            }
        });
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        notify(|listeners| {
            let Some(span) = context.span(id) else { return };
            if text_of(&span).is_some() {
                let present = innermost(&context);
                listeners
                    .iter()
                    .for_each(|it| it.left(span.name(), present.as_ref()));
            }
        });
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        notify(|listeners| {
            if let Some(span) = context.span(&id).and_then(|span| text_of(&span)) {
                let present = innermost(&context);
                for it in listeners {
                    it.closed(&span, present.as_ref());
                }
            }
        });
    }
}

/// Calls `f` with the listeners of the current runtime, if it has any.
fn notify(f: impl FnOnce(&[Box<dyn SpanListener>])) {
    current::with(|handle: &Handle| {
        let listeners = handle.inner.tools.span_listeners();
        if !listeners.is_empty() {
            f(listeners);
        }
    });
}

/// The text of the innermost span of the thread that has one.
fn innermost<S>(context: &Context<'_, S>) -> Option<Arc<str>>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let span = context.lookup_current()?;
    span.scope().find_map(|span| text_of(&span))
}

/// The text of the innermost span around a span that has one.
fn outer<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>) -> Option<Arc<str>> {
    span.scope().skip(1).find_map(|span| text_of(&span))
}

fn text_of<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>) -> Option<Arc<str>> {
    let extensions = span.extensions();
    extensions
        .get::<SpanText>()
        .map(|SpanText(text)| text.clone())
}

/// The fields that name a span.
#[derive(Default)]
struct Fields {
    name: Option<Bounded>,
    otel_name: Option<Bounded>,
    /// All other fields.
    others: Bounded,
}

impl Fields {
    /// Returns the text of a span with these fields, within one that has the text `outer`.
    fn text(&self, outer: Option<Arc<str>>, span: &str) -> Arc<str> {
        let mut text = Bounded::default();
        if let Some(outer) = outer {
            let _ = write!(text, "{outer}:");
        }
        let _ = match self.otel_name.as_ref().or(self.name.as_ref()) {
            Some(Bounded(name)) => write!(text, "{span}{{{name}}}"),
            None if self.others.0.is_empty() => write!(text, "{span}"),
            None => write!(text, "{span}{{{}}}", self.others.0),
        };
        text.0.into()
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "name" | "otel.name" => self.record_debug(field, &field::display(value)),
            _ => self.record_debug(field, &value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let place = match field.name() {
            "name" => &mut self.name,
            "otel.name" => &mut self.otel_name,
            name => {
                let space = if self.others.0.is_empty() { "" } else { " " };
                let _ = write!(self.others, "{space}{name}={value:?}");
                return;
            }
        };
        // The text ends where it is full.
        let _ = write!(place.insert(Bounded::default()), "{value:?}");
    }
}

/// A text that takes no more bytes than its bound.
#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut end = text.len().min(MAX_TEXT - self.0.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.0.push_str(&text[..end]);
        match end == text.len() {
            true => Ok(()),
            false => Err(fmt::Error),
        }
    }
}

#[cfg(all(test, feature = "task-dumps"))]
mod tests;
