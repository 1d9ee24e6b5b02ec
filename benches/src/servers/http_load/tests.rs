use super::*;

const WRK: &str = "Running 1s test @ http://127.0.0.1:3000/
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   401.86us  149.26us   3.19ms   89.46%
    Req/Sec   123.39k     7.03k  130.27k    81.82%
  Latency Distribution
     50%  375.00us
     99%    0.98ms
  134995 requests in 1.10s, 11.46MB read
Requests/sec: 122719.65
";

const H2LOAD: &str = "\
finished in 2.00s, 3.50 req/s, 1.68MB/s
requests: 7 total, 7 started, 7 done, 7 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 7 2xx, 0 3xx, 0 4xx, 0 5xx
";

#[test]
fn the_output_of_wrk_is_parsed_and_errors_are_none() {
    assert_eq!(parse_wrk(WRK), Some([134_995.0, 122_719.65, 0.98]));
    let slow = parse_wrk(&WRK.replace("0.98ms", "1.50s"));
    assert_eq!(slow.unwrap()[2], 1500.0);
    let failed = format!("{WRK}  Socket errors: connect 0, read 3, write 0, timeout 0\n");
    assert_eq!(parse_wrk(&failed), None);
}

#[test]
fn the_output_and_the_log_of_h2load_give_the_rate_and_the_p99() {
    let log = "1700000000000000\t200\t120\n1700000000000001\t200\t300\n";
    assert_eq!(parse_h2load(H2LOAD, log), Some([7.0, 3.5, 0.3]));
    let failed = H2LOAD.replace("0 failed", "1 failed");
    assert_eq!(parse_h2load(&failed, log), None);
}
