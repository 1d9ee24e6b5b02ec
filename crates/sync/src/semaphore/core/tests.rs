//! Tests of permits that are returned to a second word.

use super::*;

/// Makes a semaphore with all of its permits taken.
fn all_taken(permits: usize) -> Core<SeparateWord> {
    let core = Core::with_separate_word(permits);
    assert_eq!(core.try_acquire(permits), Ok(()));
    core
}

#[test]
fn returned_permits_are_taken_as_soon_as_they_are_moved() {
    let core = all_taken(3);
    core.give_back(3);
    assert_eq!(core.take_moved(2), Take::Taken);
    assert_eq!(
        (core.release_word.permits(), core.state.load().permits()),
        (0, 1)
    );
    assert_eq!(core.take_moved(2), Take::Short);
}

#[test]
fn permits_returned_after_the_close_are_all_in_one_word() {
    let core = all_taken(3);
    core.close();
    core.give_back(1);
    core.give_back(2);
    assert_eq!(
        (core.release_word.permits(), core.state.load().permits()),
        (0, 3)
    );
}
