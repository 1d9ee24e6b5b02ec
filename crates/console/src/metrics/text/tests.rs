use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::*;
use crate::metrics::ReactorMetrics;

/// Metrics of every kind.
fn metrics() -> Metrics {
    let mut times = SampledTimes::default();
    for (time, weight) in [(900, 64), (30_000, 1), (20_000_000_000, 2)] {
        times.record(Duration::from_nanos(time), weight);
    }
    Metrics {
        workers: vec![WorkerMetrics::default(); 2],
        spare_workers: vec![WorkerMetrics::default()],
        blocking_waits: Some(times.clone()),
        poll_times: Some(times.clone()),
        scheduling_delays: Some(times),
        slow_polls: Some(vec![
            ("a\\b\"c\nd{x=\"y\"}".to_owned(), 3),
            ("other".to_owned(), 1),
        ]),
        reactor: Some(ReactorMetrics::default()),
        ..Metrics::default()
    }
}

type Labels = Vec<(String, String)>;

/// Reads one sample by the grammar of the format.
fn parse(line: &str) -> (String, Labels, f64) {
    let is_name = |text: &str| {
        let mut bytes = text.bytes();
        bytes
            .next()
            .is_some_and(|it| it.is_ascii_alphabetic() || it == b'_')
            && bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_')
    };
    let end = line.find(['{', ' ']).unwrap();
    let (name, mut rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let mut labels = Vec::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        loop {
            let (label, value) = rest.split_once("=\"").unwrap();
            assert!(is_name(label), "{line}");
            let mut text = String::new();
            let mut characters = value.char_indices();
            let end = loop {
                match characters.next().unwrap() {
                    (end, '"') => break end,
                    (_, '\\') => text.push(match characters.next().unwrap().1 {
                        'n' => '\n',
                        escaped @ ('\\' | '"') => escaped,
                        other => panic!("\\{other} in {line}"),
                    }),
                    (_, other) => text.push(other),
                }
            };
            labels.push((label.to_owned(), text));
            rest = &value[end + 1..];
            match rest.strip_prefix(',') {
                Some(next) => rest = next,
                None => break,
            }
        }
        rest = rest.strip_prefix('}').unwrap();
    }
    let value = rest.strip_prefix(' ').unwrap().parse().unwrap();
    (name.to_owned(), labels, value)
}

/// Checks a text by the rules of the format, and returns its samples.
fn check(text: &str) -> Vec<(String, Labels, f64)> {
    assert!(text.ends_with('\n'));
    let (mut families, mut helped) = (HashMap::new(), HashSet::new());
    let (mut current, mut samples, mut seen) = (String::new(), Vec::new(), HashSet::new());
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').unwrap();
            assert!(helped.insert(name.to_owned()), "two families {name}");
            assert!(!help.is_empty() && !help.contains('\\'), "{line}");
            current = name.to_owned();
            continue;
        }
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert_eq!(name, current, "the type follows the help");
            families.insert(name.to_owned(), kind.to_owned());
            assert_eq!(kind == "counter", name.ends_with("_total"), "{name}");
            continue;
        }
        let (name, labels, value) = parse(line);
        let suffixes = ["_bucket", "_sum", "_count"];
        let family = match families[&current].as_str() {
            "histogram" => suffixes.iter().find_map(|it| name.strip_suffix(it)),
            _ => Some(name.as_str()),
        };
        assert_eq!(family, Some(current.as_str()), "{line} is in its family");
        assert!(value >= 0.0, "{line}");
        assert!(
            seen.insert((name.clone(), labels.clone())),
            "{line} is there twice"
        );
        samples.push((name, labels, value));
    }
    samples
}

#[test]
fn the_text_follows_the_grammar_of_the_format() {
    for names in [&["web", "a\"b"][..], &["web"]] {
        let runtimes = names
            .iter()
            .map(|name| (Some((*name).to_owned()), metrics()));
        let samples = check(&prometheus(&Vec::from_iter(runtimes)));
        let runtime =
            |labels: &Labels| labels.iter().find(|(label, _)| label == "runtime").cloned();
        for name in names {
            let of_runtime = samples
                .iter()
                .filter(|it| runtime(&it.1).unwrap().1 == *name);
            assert_eq!(of_runtime.count() * names.len(), samples.len());
        }
    }
    let samples = check(&prometheus(&[(None, metrics())]));
    assert!(
        samples
            .iter()
            .all(|(_, labels, _)| labels.iter().all(|it| it.0 != "runtime"))
    );
}

#[test]
fn what_is_not_measured_has_no_family() {
    let text = prometheus(&[(None, Metrics::default())]);
    check(&text);
    for name in ["_duration", "_delay", "slow_polls", "_wait_", "reactor"] {
        assert!(!text.contains(name), "{text}");
    }
    let one_of_two = [
        (Some("0".to_owned()), metrics()),
        (Some("1".to_owned()), Metrics::default()),
    ];
    let samples = check(&prometheus(&one_of_two));
    let delays = samples
        .iter()
        .filter(|it| it.0 == "raddle_scheduling_delay_seconds_count");
    assert_eq!(delays.count(), 1);
}

#[test]
fn buckets_are_cumulative_and_end_with_the_count() {
    let samples = check(&prometheus(&[(None, metrics())]));
    let of = |suffix: &str| {
        let name = format!("raddle_poll_duration_seconds{suffix}");
        samples.iter().filter(move |it| it.0 == name)
    };
    let buckets: Vec<_> = of("_bucket").map(|it| (it.1[0].1.as_str(), it.2)).collect();
    assert_eq!(buckets.len(), 23);
    assert_eq!(buckets[0], ("0.000001", 64.0));
    assert_eq!(buckets[4], ("0.00002", 64.0));
    assert_eq!(buckets[5], ("0.00005", 65.0));
    assert_eq!(buckets[21], ("10", 65.0));
    assert_eq!(buckets[22], ("+Inf", 67.0));
    assert!(buckets.is_sorted_by(|one, two| one.1 <= two.1));
    let one = |suffix| of(suffix).map(|it| it.2).next().unwrap();
    assert_eq!(one("_count"), 67.0);
    assert!((one("_sum") - 40.000_087_6).abs() < 1e-9);
}

#[test]
fn values_of_labels_are_escaped() {
    let samples = check(&prometheus(&[(None, metrics())]));
    let mut slow = samples
        .iter()
        .filter(|it| it.0 == "raddle_slow_polls_total");
    assert_eq!(
        slow.next().unwrap().1,
        [("location".to_owned(), "a\\b\"c\nd{x=\"y\"}".to_owned())]
    );
}
