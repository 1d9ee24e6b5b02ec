use super::*;

fn sheet(rounds: u16) -> Sheet {
    let options = Options {
        rounds,
        quick: false,
        json: None,
    };
    Sheet::new(Section::Scheduler, &options)
}

#[test]
fn each_figure_becomes_a_comparison() {
    let mut sheet = sheet(3);
    let figures = [Figure::less("time", "us"), Figure::more("rate", "/s")];
    let case = Case::with("spawn", "workers", 2);
    sheet
        .measure(&case, &figures, &["raddle", "tokio"], |index| {
            Ok([index as f64, 10.0 * index as f64])
        })
        .unwrap();
    let [time, rate] = &sheet.comparisons[..] else {
        panic!("two figures");
    };
    assert_eq!((time.better, rate.better), (Better::Less, Better::More));
    assert_eq!(rate.contestants[1].rounds, [10.0; 3]);
    assert_eq!(rate.name(), "spawn, workers 2");
}

#[test]
fn percentiles_make_one_curve() {
    let mut sheet = sheet(1);
    let figures = [50.0, 99.0].map(|value| Figure::percentile(value, "us"));
    let case = Case::with("chain", "rate", 2000);
    sheet
        .measure(&case, &figures, &["raddle"], |_| Ok([1.0, 2.0]))
        .unwrap();
    let [median, tail] = &sheet.comparisons[..] else {
        panic!("two figures");
    };
    assert!(median.is_varied(tail));
    assert_eq!(tail.name(), "chain, rate 2k, p99");
}

#[test]
fn a_failed_measurement_is_not_recorded() {
    let mut sheet = sheet(2);
    let mut turns = 0;
    let result = sheet.measure(
        &Case::new("x"),
        &[Figure::less("time", "us")],
        &["raddle"],
        |_| {
            turns += 1;
            match turns {
                3 => Err(std::io::Error::other("no")),
                _ => Ok([1.0]),
            }
        },
    );
    assert!(result.is_err() && sheet.comparisons.is_empty());
}

#[test]
fn the_recorded_command_omits_the_option_json() {
    let args = ["/x/y/http", "--rounds", "3", "--json", "a.json", "--pinned"];
    let command_line = command(args.into_iter().map(str::to_owned));
    assert_eq!(command_line, "http --rounds 3 --pinned");
}

#[test]
fn a_failed_attempt_becomes_a_note() {
    let mut sheet = sheet(2);
    let figures = [Figure::less("time", "us")];
    let case = Case::with("hyper", "connections", 10_000);
    sheet.attempt(&case, &figures, &["raddle"], |_| {
        Err::<[f64; 1], _>(std::io::Error::other("no sockets\nand more"))
    });
    assert_eq!(
        sheet.notes,
        ["hyper, connections 10k: not measured, no sockets"]
    );
    sheet.attempt(&case, &figures, &["raddle"], |_| Ok([1.0]));
    assert_eq!(sheet.comparisons.len(), 1);
}
