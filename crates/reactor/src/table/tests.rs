use mio::Token;
use raddle_primitives::sync::Arc;

use super::{INDEX_BITS, SMALL, Table};
use crate::{IoState, Metrics};

fn filled(count: usize) -> (Table, Vec<Token>) {
    let mut table = Table::new();
    let insert = |_| table.insert(Arc::new(IoState::new())).unwrap();
    let tokens = (0..count).map(insert).collect();
    (table, tokens)
}

/// Removes the last registrations until `left` remain.
fn shrink_to(table: &mut Table, tokens: &mut Vec<Token>, left: usize) {
    for token in tokens.drain(left..).rev() {
        assert!(table.remove(token).is_some());
    }
    assert_eq!(table.len(), left);
}

#[test]
fn memory_is_freed_at_a_quarter_of_the_peak_and_at_each_half_of_that() {
    let (mut table, mut tokens) = filled(8 * SMALL);
    let full = table.entries.capacity();
    shrink_to(&mut table, &mut tokens, 2 * SMALL + 1);
    assert_eq!(table.entries.capacity(), full);
    shrink_to(&mut table, &mut tokens, 2 * SMALL);
    let quarter = table.entries.capacity();
    assert!((2 * SMALL..full / 2).contains(&quarter), "{quarter}");
    shrink_to(&mut table, &mut tokens, SMALL + 1);
    assert_eq!(table.entries.capacity(), quarter);
    shrink_to(&mut table, &mut tokens, SMALL);
    assert_eq!(table.entries.capacity(), SMALL);
    // A slab of this size is kept.
    shrink_to(&mut table, &mut tokens, 0);
    assert_eq!(table.entries.capacity(), SMALL);
}

#[test]
fn a_full_table_refuses_registrations_until_one_is_removed() {
    let mut table = Table::new();
    let insert = |table: &mut Table| table.insert_below(3, Arc::new(IoState::new()));
    let tokens: Vec<_> = (0..3).map(|_| insert(&mut table).unwrap()).collect();
    let error = insert(&mut table).unwrap_err();
    assert!(error.to_string().contains("too many registrations"));
    assert_eq!(table.len(), 3);
    assert!(table.remove(tokens[1]).is_some());
    let token = insert(&mut table).unwrap();
    assert!(table.get(tokens[1]).is_none() && table.get(token).is_some());
}

#[test]
fn a_token_has_36_bits_for_the_generation_and_14_on_targets_of_32_bits() {
    let generation_bits = usize::BITS - INDEX_BITS;
    assert_eq!(generation_bits, if usize::BITS == 64 { 36 } else { 14 });
}

#[test]
fn metrics_count_registrations_and_events() {
    let (mut table, mut tokens) = filled(5);
    assert_eq!(table.metrics().deregistered, 0);
    shrink_to(&mut table, &mut tokens, 3);
    table.count_events(4);
    table.count_events(3);
    let expected = Metrics {
        registered: 5,
        deregistered: 2,
        events: 7,
    };
    assert_eq!(table.metrics(), expected);
}
