use super::*;
use crate::servers::greeting;

#[test]
fn without_wrk_a_thread_measures_answers_and_their_latency() {
    let address = greeting().unwrap();
    let duration = Duration::from_millis(50);
    let report = Loader::BuiltIn.run(address, 3, duration, None).unwrap();
    assert!(report.requests > 0, "{report:?}");
    assert!(report.rate > 0.0, "{report:?}");
    assert!(report.p99 > Duration::ZERO, "{report:?}");
}
