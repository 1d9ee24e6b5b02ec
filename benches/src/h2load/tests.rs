use super::*;

const PRINTED: &str = "\
finished in 2.00s, 3.50 req/s, 1.68MB/s
requests: 7 total, 7 started, 7 done, 7 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 7 2xx, 0 3xx, 0 4xx, 0 5xx
";

#[test]
fn the_output_and_the_log_give_the_rate_and_the_p99() {
    let log = "1700000000000000\t200\t120\n1700000000000001\t200\t300\n";
    let report = report(PRINTED, log).expect("it is understood");
    assert_eq!(report.requests, 7);
    assert_eq!(report.rate, 3.5);
    assert_eq!(report.p99, Duration::from_micros(300));
}

#[test]
fn a_failed_call_is_an_error() {
    let printed = PRINTED.replace("0 failed", "1 failed");
    assert!(report(&printed, "1\t200\t120\n").is_none());
}
