use super::*;
use crate::executors::{Raddle, Tokio};

#[test]
fn each_runtime_has_both_ends() {
    for both in [both_ends::<Raddle>, both_ends::<Tokio>] {
        let took = both(2, 3, 1000, 10).unwrap();
        assert!(took.elapsed > Duration::ZERO);
    }
}
