use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

type List = WaitList<u32, u32>;

fn nodes<const COUNT: usize>() -> [Pin<Box<Node<u32, u32>>>; COUNT] {
    std::array::from_fn(|_| Box::pin(Node::new()))
}

fn items(list: &mut List) -> Vec<u32> {
    list.items().copied().collect()
}

#[test]
fn items_keep_their_order() {
    let (mut list, mut nodes) = (List::new(), nodes::<5>());
    for (item, node) in nodes.iter_mut().enumerate() {
        list.push_back(node.as_mut(), item as u32);
    }
    assert_eq!(items(&mut list), [0, 1, 2, 3, 4]);
    for item in 0..5 {
        assert!(!list.is_empty());
        assert_eq!(list.release_first(10 + item), Some(item));
    }
    assert!(list.is_empty());
    assert_eq!((list.release_first(0), list.release_last(0)), (None, None));
    for (item, node) in nodes.iter_mut().enumerate() {
        assert_eq!(node.as_mut().take_verdict(), Some(10 + item as u32));
    }
}

#[test]
fn any_node_can_be_removed_and_queued_again() {
    for gone in 0..5 {
        let (mut list, mut nodes) = (List::new(), nodes::<5>());
        for (item, node) in nodes.iter_mut().enumerate() {
            list.push_back(node.as_mut(), item as u32);
        }
        assert_eq!(list.remove(nodes[gone].as_mut()), Some(gone as u32));
        assert_eq!(list.remove(nodes[gone].as_mut()), None);
        assert!(nodes[gone].is_idle());
        list.push_back(nodes[gone].as_mut(), 7);
        let left = (0..5).filter(|&item| item != gone as u32);
        assert_eq!(items(&mut list), left.chain([7]).collect::<Vec<_>>());
        assert_eq!(list.release_last(0), Some(7));
        while list.release_last(0).is_some() {}
    }
}

#[test]
fn a_verdict_is_taken_once_and_ends_the_wait() {
    let (mut list, [mut first, mut second]) = (List::new(), nodes());
    list.push_back(first.as_mut(), 1);
    list.push_back(second.as_mut(), 2);
    *list.get_mut(second.as_mut()).unwrap() += 10;
    assert_eq!(list.release_last(5), Some(12));
    assert_eq!(list.get_mut(second.as_mut()), None);
    assert_eq!(list.remove(second.as_mut()), None);
    assert!(!second.is_idle());
    assert_eq!(second.as_mut().take_verdict(), Some(5));
    assert!(second.is_idle());
    assert_eq!(second.as_mut().take_verdict(), None);
    assert_eq!(first.as_mut().take_verdict(), None);
    assert_eq!(list.remove(first.as_mut()), Some(1));
}

#[test]
fn a_node_of_another_list_is_refused() {
    let (mut list, [mut node]) = (List::new(), nodes());
    list.push_back(node.as_mut(), 1);
    let mut other = List::new();
    catch_unwind(AssertUnwindSafe(|| other.remove(node.as_mut()))).unwrap_err();
    catch_unwind(AssertUnwindSafe(|| other.push_back(node.as_mut(), 2))).unwrap_err();
    assert!(other.is_empty());
    assert_eq!(list.remove(node.as_mut()), Some(1));
    other.push_back(node.as_mut(), 2);
    assert_eq!(other.remove(node.as_mut()), Some(2));
}

/// The node of a forgotten future stays queued; its item is dropped with the list.
#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_list_drops_the_items_of_nodes_that_were_forgotten() {
    let item = std::rc::Rc::new(());
    let mut list = WaitList::<_, ()>::new();
    for _ in 0..3 {
        let mut node = Box::pin(Node::new());
        list.push_back(node.as_mut(), item.clone());
        std::mem::forget(node);
    }
    drop(list);
    assert_eq!(std::rc::Rc::strong_count(&item), 1);
}

#[test]
fn a_node_whose_list_is_dropped_is_idle() {
    let (mut list, [mut node]) = (List::new(), nodes());
    list.push_back(node.as_mut(), 1);
    drop(list);
    assert!(node.is_idle());
}
