use super::*;

#[test]
fn a_mark_that_is_moved_stays_until_it_is_cleared() {
    let claim = ClaimCell::new();
    assert_eq!(claim.start(), None);
    assert!(claim.mark(Index::new(1)) && !claim.mark(Index::new(2)));
    assert_eq!(claim.start(), Some(Index::new(1)));
    claim.mark_again(Index::new(3));
    assert!(claim.is_marked() && !claim.mark(Index::new(4)));
    assert_eq!(claim.start(), Some(Index::new(3)));
    claim.clear();
    assert!(!claim.is_marked() && claim.mark(Index::new(0)));
}
