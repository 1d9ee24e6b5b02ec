use super::*;

const PRINTED: &str = "Running 1s test @ http://127.0.0.1:3000/
  1 threads and 50 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   401.86us  149.26us   3.19ms   89.46%
    Req/Sec   123.39k     7.03k  130.27k    81.82%
  Latency Distribution
     50%  375.00us
     75%  429.00us
     90%  516.00us
     99%    0.98ms
  134995 requests in 1.10s, 11.46MB read
Requests/sec: 122719.65
Transfer/sec:     10.42MB
";

#[test]
fn the_output_of_wrk_is_parsed() {
    let report = Report {
        requests: 134_995,
        rate: 122_719.65,
        p99: Duration::from_micros(980),
    };
    assert_eq!(parse(PRINTED), Ok(report));
}

#[test]
fn output_with_socket_errors_is_an_error() {
    let failed = format!("{PRINTED}  Socket errors: connect 0, read 3, write 0, timeout 0\n");
    assert_eq!(
        parse(&failed).unwrap_err(),
        "wrk was not answered: Socket errors: connect 0, read 3, write 0, timeout 0"
    );
    assert!(parse("").is_err());
}

#[test]
fn times_are_parsed_by_their_unit() {
    assert_eq!(time("429.00us"), Some(Duration::from_micros(429)));
    assert_eq!(time("1.50s"), Some(Duration::from_millis(1500)));
    assert_eq!(time("1.50m"), Some(Duration::from_secs(90)));
    assert_eq!(time("1.50"), None);
}
