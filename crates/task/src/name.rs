//! The name of the task that is spawned next.

use std::cell::RefCell;

/// The length up to which a name is kept, in bytes.
const MAX_NAME: usize = 256;

raddle_primitives::thread_local! {
    /// The name of the task that this thread is about to spawn.
    static NAME: RefCell<Option<Next>> = RefCell::new(None);
}

/// The name of one task.
#[derive(Debug)]
struct Next {
    name: String,
    /// Whether the task already has a span with the name. The next span belongs to another task.
    #[cfg_attr(
        not(feature = "tracing"),
        expect(dead_code, reason = "no spans without this feature")
    )]
    has_span: bool,
}

/// Sets the name of the task that the calling thread spawns next, while the guard exists.
///
/// The name is not part of the task. A scheduler that passes it to an observer [takes](take_name)
/// it when the task is spawned. Of a name above 256 bytes only the beginning is kept, and `…`
/// follows it.
///
/// # Examples
///
/// ```
/// let _named = raddle_task::name_next(Some("answer"));
/// assert_eq!(raddle_task::take_name().as_deref(), Some("answer"));
/// assert_eq!(raddle_task::take_name(), None);
/// ```
pub fn name_next(name: Option<&str>) -> NameGuard {
    NameGuard(replace(name.map(|name| Next {
        name: shorten(name),
        has_span: false,
    })))
}

/// Copies a name. Tools keep the names of all tasks, so each has a bounded size.
fn shorten(name: &str) -> String {
    if name.len() <= MAX_NAME {
        return name.to_owned();
    }
    let ellipsis = '…';
    let mut end = MAX_NAME - ellipsis.len_utf8();
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let mut short = String::with_capacity(MAX_NAME);
    short.push_str(&name[..end]);
    short.push(ellipsis);
    short
}

/// Restores the former name when it is dropped.
#[derive(Debug)]
#[must_use = "the name counts only while the guard lives"]
pub struct NameGuard(Option<Next>);

impl Drop for NameGuard {
    fn drop(&mut self) {
        drop(replace(self.0.take()));
    }
}

/// Takes the name that was set for the task that is being spawned. So a task that an observer
/// spawns meanwhile has no name.
pub fn take_name() -> Option<String> {
    let is_set = NAME.try_with(|cell| cell.borrow().is_some());
    match is_set {
        Ok(true) => Some(replace(None)?.name),
        _ => None,
    }
}

/// Like [`take_name`], for the span of the task.
#[cfg(feature = "tracing")]
pub(crate) fn take_for_span() -> Option<String> {
    replace(None)
        .filter(|next| !next.has_span)
        .map(|next| next.name)
}

/// Restores the name for the spawn that follows, after the span was made.
#[cfg(feature = "tracing")]
pub(crate) fn give_back(name: Option<String>) {
    drop(replace(name.map(|name| Next {
        name,
        has_span: true,
    })));
}

/// Sets the name and returns the former one. A thread that is exiting has no name.
fn replace(name: Option<Next>) -> Option<Next> {
    NAME.try_with(|cell| cell.replace(name)).ok().flatten()
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
