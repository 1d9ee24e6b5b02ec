use super::*;

#[test]
fn labels_above_the_bound_count_as_other() {
    let counts = SlowPollCounts::new();
    for number in 0..1_000 {
        counts.add(&format!("src/main.rs:{number}"));
    }
    counts.add("src/main.rs:7");
    counts.add(&"\u{e4}".repeat(1_000));
    let read = counts.counts();
    assert_eq!(read.len(), MAX_LABELS + 1);
    assert!(read.contains(&("src/main.rs:7".to_owned(), 2)));
    assert!(read.contains(&(OTHER.to_owned(), 901)));
    assert_eq!(read.iter().map(|(_, count)| count).sum::<u64>(), 1_002);
}

#[test]
fn a_long_label_is_cut_between_characters() {
    let counts = SlowPollCounts::new();
    counts.add(&format!("a{}", "\u{e4}".repeat(1_000)));
    assert_eq!(counts.counts()[0].0.len(), MAX_LENGTH - 1);
}
