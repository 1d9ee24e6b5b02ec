use super::*;

fn takes_half_and_leaves_the_rest<Q: Queue>() {
    let (owner, stealer) = Q::new();
    let (other, _) = Q::new();
    for n in 0..8 {
        owner.push(Box::new(n)).unwrap();
    }
    let mut stolen = vec![other.steal_from(&stealer).unwrap()];
    stolen.extend(std::iter::from_fn(|| other.pop()));
    stolen.sort();
    assert_eq!(stolen, [0, 1, 2, 3].map(Box::new));
    assert_eq!(owner.pop(), Some(Box::new(4)));
}

#[test]
fn a_steal_takes_the_older_half() {
    takes_half_and_leaves_the_rest::<raddle_queue::Owner<Item>>();
    takes_half_and_leaves_the_rest::<crossbeam_deque::Worker<Item>>();
    takes_half_and_leaves_the_rest::<st3::fifo::Worker<Item>>();
}
