use std::future::pending;

use tracing::{Instrument, info_span};
use tracing_subscriber::layer::SubscriberExt;

use super::*;
use crate::runtime::Builder;
use crate::task::yield_now;

/// The spans of the tasks after they have waited, ordered by id.
fn spans_of(tasks: impl AsyncFnOnce()) -> Vec<Option<String>> {
    let subscriber = tracing_subscriber::registry().with(SpanLayer::new());
    let _default = tracing::subscriber::set_default(subscriber);
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_task_dumps().build().unwrap();
    runtime.block_on(tasks());
    let dump = runtime.handle().dump().unwrap();
    let spans = dump
        .tasks()
        .iter()
        .map(|task| task.span().map(str::to_owned));
    spans.collect()
}

#[test]
fn a_task_has_the_innermost_open_span_that_its_last_poll_has_entered() {
    let spans = spans_of(async || {
        let request = || info_span!("request", name = "GET /users", id = 7);
        let work = async |is_inner: bool| {
            yield_now().instrument(info_span!("authorize")).await;
            let fetch = pending::<()>().instrument(info_span!("fetch"));
            if is_inner {
                fetch.await;
            }
            pending::<()>().await;
        };
        crate::spawn(work(true).instrument(request()));
        crate::spawn(work(false).instrument(request()));
        crate::spawn(work(false));
        crate::spawn(pending::<()>().instrument(info_span!("none")).into_inner());
        for _ in 0..10 {
            yield_now().await;
        }
    });
    let request = Some("request{GET /users}".to_owned());
    assert_eq!(spans, [Some("fetch".to_owned()), request, None, None]);
}

#[test]
fn a_span_is_named_by_its_fields_also_if_they_are_recorded_later() {
    let spans = spans_of(async || {
        let waits = |span| drop(crate::spawn(pending::<()>().instrument(span)));
        waits(info_span!("a", name = %format_args!("{}-{}", 1, 2), otel.name = "POST /x"));
        waits(info_span!("b", name = ?Some(3)));
        let late = info_span!("c", name = field::Empty);
        late.record("name", "late");
        waits(late);
        waits(info_span!("d", name = "\u{e4}".repeat(1_000_000)));
        yield_now().await;
    });
    let spans: Vec<_> = spans.into_iter().map(Option::unwrap).collect();
    assert_eq!(spans[..3], ["a{POST /x}", "b{Some(3)}", "c{late}"]);
    assert_eq!(spans[3].len(), MAX_TEXT);
}

#[test]
fn the_text_of_a_dump_has_the_span() {
    let subscriber = tracing_subscriber::registry().with(SpanLayer::new());
    let _default = tracing::subscriber::set_default(subscriber);
    let runtime = Builder::new_current_thread()
        .enable_task_dumps()
        .build()
        .unwrap();
    runtime.spawn(pending::<()>().instrument(info_span!("request", name = "GET \"/\"")));
    runtime.block_on(yield_now());
    let text = runtime.handle().dump().unwrap().to_string();
    assert!(text.contains(r#", in span "request{GET \"/\"}""#), "{text}");
}
