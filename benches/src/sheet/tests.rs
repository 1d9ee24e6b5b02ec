use clap::Parser as _;

use super::*;

#[test]
fn each_contestant_is_first_in_some_rounds_and_a_ratio_is_taken_within_a_round() {
    let mut sheet = Sheet::new(Section::Scheduler, &Options::parse_from(["", "--rounds=4"]));
    let mut order = Vec::new();
    let figures = [Figure::less("time", "us"), Figure::more("rate", "/s")];
    sheet.measure(&Case::new("x"), &figures, &["a", "b", "c"], |contestant| {
        order.push(contestant);
        Ok([order.len() as f64, 1.0])
    });
    assert_eq!(order, [0, 1, 2, 0, 1, 2, 2, 1, 0, 1, 2, 0, 0, 2, 1]);
    let [time, rate] = &sheet.comparisons[..] else {
        panic!("two figures");
    };
    assert_eq!(time.contestants[0].rounds, [4.0, 9.0, 12.0, 13.0]);
    assert_eq!(time.contestants[1].rounds, [5.0, 8.0, 10.0, 15.0]);
    assert_eq!(time.contestants[2].rounds, [6.0, 7.0, 11.0, 14.0]);
    // The ratios are 5/4, 8/9, 10/12 and 15/13.
    let lead = time.lead("b").unwrap();
    assert_eq!((lead.low, lead.high), (10.0 / 12.0, 5.0 / 4.0));
    assert_eq!(rate.lead("b").unwrap().median, 1.0);
    assert_eq!(time.lead("d"), None);
}

#[test]
fn a_failed_measurement_becomes_a_note_and_an_error_at_the_end() {
    let options = Options::parse_from(["", "--rounds=2", "--only", "hyper"]);
    let mut sheet = Sheet::new(Section::Http, &options);
    for title in ["hyper", "other"] {
        let case = Case::with(title, "connections", 10_000);
        sheet.measure::<[f64; 1]>(&case, &[Figure::less("time", "us")], &["raddle"], |_| {
            Err(std::io::Error::other("no sockets"))
        });
    }
    let text = "hyper, connections 10k: not measured, raddle: no sockets";
    assert_eq!(sheet.notes, [text]);
    assert!(sheet.comparisons.is_empty());
    assert_eq!(sheet.finish().unwrap_err().to_string(), text);
}
