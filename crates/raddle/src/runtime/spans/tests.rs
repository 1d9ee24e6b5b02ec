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
    let request = "request{GET /users}".to_owned();
    let fetch = format!("{request}:fetch");
    assert_eq!(spans, [Some(fetch), Some(request), None, None]);
}

#[test]
fn a_group_of_tasks_has_the_spans_that_most_of_them_are_in() {
    let subscriber = tracing_subscriber::registry().with(SpanLayer::new());
    let _default = tracing::subscriber::set_default(subscriber);
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_task_dumps().build().unwrap();
    let notify = Arc::new(crate::sync::Notify::new());
    runtime.block_on(async {
        for number in 0..6 {
            let name = if number < 2 { "GET /a" } else { "DELETE /b" };
            let notify = notify.clone();
            let waits = async move { notify.notified().await };
            crate::spawn(waits.instrument(info_span!("request", name)));
        }
        yield_now().await;
    });
    let dump = runtime.handle().dump().unwrap();
    let groups = dump.groups();
    let spans = [("request{DELETE /b}", 4), ("request{GET /a}", 2)];
    assert_eq!(groups[0].spans(), spans);
    let text = dump.to_string();
    assert!(
        text.contains("in span \"request{DELETE /b}\" and 1 others: task "),
        "{text}"
    );
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
        waits(info_span!("e", method = %"GET", path = "/users", id = 7));
        yield_now().await;
    });
    let spans: Vec<_> = spans.into_iter().map(Option::unwrap).collect();
    assert_eq!(spans[..3], ["a{POST /x}", "b{Some(3)}", "c{late}"]);
    assert_eq!(spans[3].len(), MAX_TEXT);
    assert_eq!(spans[4], r#"e{method=GET path="/users" id=7}"#);
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

#[cfg(feature = "watchdog")]
#[test]
fn a_slow_poll_has_the_span_of_its_thread() {
    use std::sync::mpsc;
    use std::time::Duration;

    use crate::runtime::watchdog::Report;

    let subscriber = tracing_subscriber::registry().with(SpanLayer::new());
    let _default = tracing::subscriber::set_default(subscriber);
    let (sender, reports) = mpsc::channel();
    let runtime = Builder::new_current_thread()
        .watchdog(Duration::from_millis(20), move |report: &Report| {
            if let Report::SlowPoll(poll) = report {
                let _ = sender.send(poll.span().map(str::to_owned));
            }
        })
        .build()
        .unwrap();
    let block = async |limit: Duration| {
        let reported = info_span!("inner").in_scope(|| reports.recv_timeout(limit));
        reported.expect("the poll is reported while it runs")
    };
    let limit = Duration::from_secs(20);
    let request = info_span!("request", name = "GET /");
    let spans = runtime.block_on(async {
        let first = block(limit).instrument(request.clone()).await;
        yield_now().await;
        let second = reports.recv_timeout(limit).unwrap();
        [first, second]
    });
    assert_eq!(spans, [Some("request{GET /}:inner".to_owned()), None]);
}

#[cfg(feature = "flight-recorder")]
#[test]
fn a_recording_has_the_spans() {
    use crate::runtime::flight_recorder::RecorderOptions;
    use crate::runtime::flight_recorder::recording::analysis::spans_by_name;

    let subscriber = tracing_subscriber::registry().with(SpanLayer::new());
    let _default = tracing::subscriber::set_default(subscriber);
    let runtime = Builder::new_current_thread()
        .flight_recorder(RecorderOptions::default())
        .build()
        .unwrap();
    runtime.block_on(async {
        let request = async {
            yield_now().await;
            info_span!("query").in_scope(|| {});
        };
        request
            .instrument(info_span!("request", name = "GET /"))
            .await;
    });
    let recorder = runtime.handle().flight_recorder().unwrap();
    let spans = spans_by_name(&recorder.snapshot());
    let mut counts = Vec::from_iter(spans.iter().map(|(name, times)| (name, times.count())));
    counts.sort();
    // The future of `block_on` is polled twice, and drops the request in its span.
    assert_eq!(counts[0], (&"query".to_owned(), 1));
    assert_eq!(counts[1].0, "request");
    assert!((2..=3).contains(&counts[1].1), "{counts:?}");
}
