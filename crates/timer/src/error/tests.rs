use super::*;

#[test]
fn each_error_matches_only_its_predicate_and_has_a_message() {
    let answers = |error: Error| {
        (
            error.is_shutdown(),
            error.is_at_capacity(),
            error.is_invalid(),
        )
    };
    assert_eq!(answers(Error::shutdown()), (true, false, false));
    assert_eq!(answers(Error::at_capacity()), (false, true, false));
    assert_eq!(answers(Error::invalid()), (false, false, true));
    let messages =
        [Error::shutdown(), Error::at_capacity(), Error::invalid()].map(|error| error.to_string());
    assert_eq!(
        messages,
        [
            "the runtime of the timer has been shut down; keep it alive while timers are used",
            "there are as many timers as there may be; drop some first",
            "the duration is too long for a timer; use a shorter one",
        ]
    );
}
