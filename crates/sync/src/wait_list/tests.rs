use super::*;

fn queued(list: &mut WaitList<u32>) -> Vec<u32> {
    let mut items = Vec::new();
    while let Some(first) = list.first() {
        items.push(list.remove(first));
    }
    assert!(list.is_empty() && list.last().is_none());
    items
}

#[test]
fn items_keep_their_order() {
    let mut list = WaitList::new();
    for item in 0..5 {
        list.push_back(item);
    }
    assert_eq!(queued(&mut list), [0, 1, 2, 3, 4]);
}

#[test]
fn any_item_can_be_removed() {
    for gone in 0..5 {
        let mut list = WaitList::new();
        let keys: Vec<_> = (0..5).map(|item| list.push_back(item)).collect();
        assert_eq!(list.remove(keys[gone as usize]), gone);
        let left: Vec<_> = (0..5).filter(|&item| item != gone).collect();
        assert_eq!(queued(&mut list), left);
    }
}

#[test]
fn an_item_that_has_left_the_order_stays() {
    for left in 0..3 {
        let mut list = WaitList::new();
        let keys: Vec<_> = (0..3).map(|item| list.push_back(item)).collect();
        list.unqueue(keys[left]);
        list.unqueue(keys[left]);
        assert!(!list.is_queued(keys[left]));
        *list.get_mut(keys[left]) += 10;
        let late = list.push_back(7);
        assert_ne!(late, keys[left]);
        assert_eq!(list.last(), Some(late));
        assert_eq!(list.remove(keys[left]), left as u32 + 10);
        assert_eq!(queued(&mut list).len(), 3);
    }
}
