use super::*;

fn group(values: &[f64]) -> Group {
    let one = |&value: &f64| {
        let contestants = [("raddle", value), ("tokio", value * 2.0)];
        Comparison::sample("spawn <many>", &contestants).with("tasks", value)
    };
    Group(values.iter().map(one).collect())
}

#[test]
fn a_curve_names_what_it_shows() {
    let svg = curve(&group(&[10.0, 1e3, 1e6]));
    assert!(
        svg.starts_with("<svg role=\"img\" aria-label=\"spawn &lt;many&gt;: time, us, by tasks\""),
        "{svg}"
    );
    for text in ["raddle", "tokio", "10", "1k", "1M"] {
        assert!(svg.contains(&format!("\n{text}\n")), "{text}: {svg}");
    }
    assert_eq!(svg.matches("<svg").count(), 1);
}

#[test]
fn nothing_measured_is_no_failure() {
    assert!(curve(&group(&[0.0, 0.0])).contains("<svg"));
    assert!(forest("none", &[]).contains("<svg"));
}

#[test]
fn a_forest_has_a_row_for_each() {
    let lead = Interval {
        median: 2.0,
        low: 1.5,
        high: 3.0,
        count: 6,
    };
    let long = "a name that is too long to be shown beside the row".to_owned();
    let svg = forest("leads", &[("short".to_owned(), lead), (long, lead)]);
    assert!(svg.contains("\nshort\n") && svg.contains("…"), "{svg}");
}

#[test]
fn a_picture_alone_has_a_style() {
    let svg = alone(&curve(&group(&[1.0, 2.0])));
    assert!(
        svg.contains("><style>") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
}
