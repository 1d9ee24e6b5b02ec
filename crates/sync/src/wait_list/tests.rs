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

#[test]
fn who_is_told_leaves_the_place_to_the_next() {
    let (marks, mut list) = (Marks::new(), WaitList::new());
    let keys: Vec<_> = (0..9)
        .map(|item| marks.push_back(&mut list, item))
        .collect();
    assert!(!marks.take(keys[1]));
    list.unqueue(keys[1]);
    marks.tell(keys[1]);
    assert!(marks.take(keys[1]));
    assert_eq!(marks.push_back(&mut list, 9), keys[1]);
    assert!(!marks.take(keys[1]));
    assert_ne!(marks.push_back(&mut list, 10), keys[1]);
    assert_eq!(queued(&mut list), [0, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
}

#[test]
fn who_has_no_mark_is_told_by_the_list_only() {
    let (marks, mut list) = (Marks::new(), WaitList::new());
    let keys: Vec<_> = (0..99)
        .map(|item| marks.push_back(&mut list, item))
        .collect();
    list.unqueue(keys[98]);
    marks.tell(keys[98]);
    assert!(!marks.take(keys[98]));
    assert_eq!(list.remove(keys[98]), 98);
}

#[test]
fn a_mark_that_nobody_saw_is_gone_with_its_item() {
    let (marks, mut list) = (Marks::new(), WaitList::new());
    let key = marks.push_back(&mut list, 0);
    list.unqueue(key);
    marks.tell(key);
    list.remove(key);
    assert_eq!(marks.push_back(&mut list, 1), key);
    assert!(!marks.take(key));
    assert_eq!(queued(&mut list), [1]);
}
