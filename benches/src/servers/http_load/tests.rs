use super::*;

const WRK: &str = "\
Running 1s test @ http://127.0.0.1:18126/
  1 threads and 50 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    17.64ms   40.20ms 304.88ms   90.86%
    Req/Sec     8.93k     6.47k   18.39k    60.00%
  8871 requests in 1.00s, 1.15MB read
Requests/sec:   8836.94
Transfer/sec:      1.15MB
done\t0\t8871\t8836.9424238983\t3.72\t47.3\t202.347\t273.55
";

const H2LOAD: &str = "\
Main benchmark duration is over for thread #0. Stopping all clients.
Stopped all clients for thread #0

finished in 1.00s, 3952.00 req/s, 143.39KB/s
requests: 3952 total, 4080 started, 3952 done, 3952 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 3952 2xx, 0 3xx, 0 4xx, 0 5xx
time for request:     7.50ms    143.18ms     31.83ms     21.34ms    84.21%
";

#[test]
fn the_output_of_wrk_is_parsed_and_errors_are_none() {
    let loaded = [8_871.0, 8_836.942_423_898_3, 3.72, 47.3, 202.347, 273.55];
    assert_eq!(parse_wrk(WRK), Some(loaded));
    let failed = WRK.replace("done\t0", "done\t12500");
    assert_eq!(parse_wrk(&failed), None);
    // Lua prints the percentiles of no request as numbers too.
    let silent = WRK.replace("done\t0\t8871", "done\t0\t0");
    assert_eq!(parse_wrk(&silent), None);
    let (without_script, _) = WRK.split_once("done").unwrap();
    assert_eq!(parse_wrk(without_script), None);
}

#[test]
fn the_output_and_the_log_of_h2load_give_the_rate_and_the_percentiles() {
    let log: String = (1..=1_000)
        .rev()
        .map(|micros| format!("1795839132685552\t200\t{micros}\n"))
        .collect();
    let loaded = [3_952.0, 3_952.0, 0.501, 0.901, 0.991, 1.0];
    assert_eq!(parse_h2load(H2LOAD, &log), Some(loaded));
    let failed = H2LOAD.replace("0 failed", "1 failed");
    assert_eq!(parse_h2load(&failed, &log), None);
    assert_eq!(parse_h2load(H2LOAD, ""), None);
}
