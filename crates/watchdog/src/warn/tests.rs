use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::{MAX_PLACES, Place, Subject, suppressed_before};

fn function(name: &str) -> Subject {
    Subject::SlowPoll(Place::Function(name.to_owned()))
}

#[test]
fn a_warning_says_how_many_were_left_out_since_the_last_one_about_its_place() {
    let mut warnings = HashMap::new();
    let start = Instant::now();
    let mut at = |millis, name| {
        let now = start + Duration::from_millis(millis);
        suppressed_before(&mut warnings, function(name), now)
    };
    assert_eq!(at(0, "list"), Some(0));
    assert_eq!(at(10, "search"), Some(0), "another place has its own limit");
    assert_eq!(at(300, "list"), None);
    assert_eq!(at(900, "list"), None);
    assert_eq!(at(1001, "list"), Some(2));
    assert_eq!(at(1011, "search"), Some(0));
    assert_eq!(at(2500, "list"), Some(0));
}

#[test]
fn the_number_of_places_is_bounded() {
    let mut warnings = HashMap::new();
    let start = Instant::now();
    for number in 0..3 * MAX_PLACES {
        let now = start + Duration::from_millis(2) * number as u32;
        suppressed_before(&mut warnings, function(&number.to_string()), now);
    }
    assert!(warnings.len() <= MAX_PLACES);
}
