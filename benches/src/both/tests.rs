use super::*;
use crate::executors::{Raddle, Tokio};

#[test]
fn messages_between_two_tasks_of_a_runtime_come_back() {
    for both in [both_ends::<Raddle>, both_ends::<Tokio>] {
        let took = both(2, 3, 1000, 10).unwrap();
        assert!(took.elapsed > Duration::ZERO);
    }
}
