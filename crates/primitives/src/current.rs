//! The stack of the handles that are current on a thread: of the scheduler, reactor, timers and
//! runtime that code finds there without being given a handle.
//!
//! Each thread has one stack of [`Frame`]s. A frame offers handles, each known by its type. A
//! look-up returns the handle of the innermost frame that offers the type. A layer that is used
//! alone enters a frame with its own handle; a runtime enters one frame that offers the handles of
//! all its layers. A layer therefore finds its handle without knowing what else is current, and
//! entering a runtime is one push.
//!
//! How a frame answers by type is the provider interface of Rust's RFC 3192.
//!
//! ```
//! use raddle_primitives::current::{self, Frame, HandleFrame, Request};
//!
//! struct Port(u16);
//! struct Name(&'static str);
//! struct Server(Port, Name);
//!
//! impl Frame for Server {
//!     fn provide<'a>(&'a self, request: &mut Request<'a>) {
//!         request.offer(|| Some(&self.0)).offer(|| Some(&self.1));
//!     }
//! }
//!
//! let port = || current::with(|port: &Port| port.0);
//! let outer = current::enter(Server(Port(80), Name("web")));
//! assert_eq!(port(), Some(80));
//! {
//!     let _inner = current::enter(HandleFrame(Some(Port(8080))));
//!     assert_eq!(port(), Some(8080));
//!     assert_eq!(current::with(|name: &Name| name.0), Some("web"));
//! }
//! assert_eq!(port(), Some(80));
//! drop(outer);
//! assert_eq!(port(), None);
//! ```

use std::any::TypeId;
use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::NotSend;

crate::thread_local! {
    /// `None` stands for a frame whose guard was dropped while it was not the innermost.
    static STACK: RefCell<Vec<Option<Box<dyn Frame>>>> = RefCell::new(Vec::new());
}

/// Handles that are current together.
pub trait Frame: 'static {
    /// [Offers](Request::offer) each handle of the frame. It must not enter or leave a frame.
    fn provide<'a>(&'a self, request: &mut Request<'a>);
}

/// A frame of one handle; with `None`, no handle of its type is current.
#[derive(Debug)]
pub struct HandleFrame<T>(pub Option<T>);

impl<T: 'static> Frame for HandleFrame<T> {
    fn provide<'a>(&'a self, request: &mut Request<'a>) {
        request.offer(|| self.0.as_ref());
    }
}

/// The search for a handle of one type.
#[derive(Debug)]
pub struct Request<'a> {
    handle: TypeId,
    /// Set when a frame has answered: to a pointer to a handle of the requested type, borrowed for
    /// `'a`, or to `None`.
    answer: Option<Option<NonNull<()>>>,
    frame: PhantomData<&'a ()>,
}

impl<'a> Request<'a> {
    /// Answers with the result of `handle`, if its type is requested. With `None`, no handle of
    /// this type is current inside this frame, even if an outer frame has one.
    #[inline]
    pub fn offer<T: 'static>(&mut self, handle: impl FnOnce() -> Option<&'a T>) -> &mut Self {
        if self.handle == TypeId::of::<T>() {
            self.answer = Some(handle().map(|handle| NonNull::from(handle).cast()));
        }
        self
    }
}

/// Calls `f` with the current handle of type `T`, if there is one. `f` must not enter or leave a
/// frame.
///
/// On a thread that is exiting, there may be no handle.
///
/// # Panics
///
/// Panics if `f` enters a frame, or drops an [`EnterGuard`].
#[inline]
pub fn with<T: 'static, R>(f: impl FnOnce(&T) -> R) -> Option<R> {
    let found = search::<T, _>(|answer| {
        // SAFETY: only `offer` answers, with a reference to a value of the type whose id the
        // request has. That type is `T`. The reference is borrowed from the frame, which stays
        // while the stack is borrowed.
        answer
            .flatten()
            .map(|handle| f(unsafe { handle.cast::<T>().as_ref() }))
    });
    found.flatten()
}

/// Returns whether a frame says that no handle of type `T` is current, such as the frame of a
/// runtime without timers. It is false if there is one, and if no frame mentions the type.
pub fn is_hidden<T: 'static>() -> bool {
    search::<T, _>(|answer| matches!(answer, Some(None))).unwrap_or(false)
}

/// Calls `f` with the first answer of a frame to the request for a `T`, while the stack is
/// borrowed. Returns `None` on a thread that has no stack any more.
#[inline]
fn search<T: 'static, R>(f: impl FnOnce(Option<Option<NonNull<()>>>) -> R) -> Option<R> {
    let result = STACK.try_with(|stack| {
        let stack = stack.borrow();
        let mut request = Request {
            handle: TypeId::of::<T>(),
            answer: None,
            frame: PhantomData,
        };
        for frame in stack.iter().rev().flatten() {
            frame.provide(&mut request);
            if request.answer.is_some() {
                break;
            }
        }
        f(request.answer)
    });
    result.ok()
}

/// A clone of the current handle of type `T`, if there is one.
#[inline]
pub fn get<T: Clone + 'static>() -> Option<T> {
    with(T::clone)
}

/// Makes the handles of `frame` current until the guard is dropped. On a thread that is exiting it
/// may have no effect.
pub fn enter<'a>(frame: impl Frame) -> EnterGuard<'a> {
    let frame: Box<dyn Frame> = Box::new(frame);
    let place = STACK.try_with(|stack| {
        let mut stack = stack.borrow_mut();
        stack.push(Some(frame));
        stack.len() - 1
    });
    EnterGuard {
        _entered: Entered {
            place: place.ok(),
            thread: PhantomData,
        },
        handle: PhantomData,
    }
}

/// Returns the number of frames that the thread has entered, or `None` if it is ending.
pub fn depth() -> Option<usize> {
    STACK.try_with(|stack| stack.borrow().len()).ok()
}

/// Keeps a [`Frame`] current until it is dropped. Guards should be dropped in the reverse order of
/// their creation. In any other order, each guard still ends its own frame.
///
/// The lifetime is that of the current handle.
#[must_use = "the handle is current only while the guard lives"]
pub struct EnterGuard<'a> {
    _entered: Entered,
    handle: PhantomData<&'a ()>,
}

/// Borrows nothing, so an owner may be shut down before the guard is dropped.
struct Entered {
    /// The position of the frame in the stack.
    place: Option<usize>,
    /// The guard must be dropped on the thread whose stack it is.
    thread: NotSend,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let Some(place) = self.place else { return };
        let _ = STACK.try_with(|stack| {
            let frame = {
                let mut stack = stack.borrow_mut();
                let frame = stack[place].take();
                while let Some(None) = stack.last() {
                    stack.pop();
                }
                frame
            };
            // The stack is not borrowed here: this may drop the last reference to an owner.
            drop(frame);
        });
    }
}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterGuard").finish_non_exhaustive()
    }
}
