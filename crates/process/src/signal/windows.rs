//! The events of the Windows console: Ctrl-C, Ctrl-Break, and those that announce the end of the
//! process.
//!
//! Each listener receives every event of its kind that comes while it exists. The first listener
//! permanently installs a handler. An event without a listener has its default effect, which is
//! usually to end the process.
//!
//! Listeners need no reactor: the system runs the handler on a separate thread, which wakes them.

mod console;

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use console::{Event, Listener};

/// Defines a listener for one event: its type, its methods, and the function that makes it.
macro_rules! listener {
    ($name:ident, $function:ident, $event:ident, $what:literal, $when:literal) => {
        #[doc = concat!("Listens for ", $what, ".")]
        ///
        /// # Examples
        ///
        /// ```no_run
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
        #[doc = concat!("use raddle::signal::windows::", stringify!($function), ";")]
        ///
        /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
        #[doc = concat!("let mut events = ", stringify!($function), "()?;")]
        /// events.recv().await;
        /// println!("goodbye");
        /// # Ok(()) }) }
        /// ```
        #[must_use = "events are received by `recv`"]
        #[derive(Debug)]
        pub struct $name(Listener);

        impl $name {
            /// Waits for the next event. Several events since the last call count as one.
            ///
            /// # Cancel safety
            ///
            /// Cancel safe: dropping the future loses nothing.
            pub async fn recv(&mut self) -> Option<()> {
                poll_fn(|cx| self.poll_recv(cx)).await
            }

            /// The poll function of [`recv`](Self::recv), for futures that are written by hand.
            /// Only the task that polled last is woken.
            pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
                let unit = ready!(raddle_leaf::coop::poll_proceed(cx));
                ready!(self.0.poll(cx));
                unit.made_progress();
                Poll::Ready(Some(()))
            }
        }

        #[doc = concat!("Listens for ", $what, ", from now on. ", $when)]
        ///
        /// # Errors
        ///
        /// Returns an error if the system refuses the handler.
        pub fn $function() -> io::Result<$name> {
            Listener::new(Event::$event).map($name)
        }
    };
}

listener!(
    CtrlC,
    ctrl_c,
    CtrlC,
    "Ctrl-C",
    "It does not end the process while there is a listener."
);
listener!(
    CtrlBreak,
    ctrl_break,
    CtrlBreak,
    "Ctrl-Break",
    "It does not end the process while there is a listener."
);
listener!(
    CtrlClose,
    ctrl_close,
    Close,
    "the closing of the console's window",
    "The system ends the process some seconds later, so exit before."
);
listener!(
    CtrlLogoff,
    ctrl_logoff,
    Logoff,
    "the end of a user's session",
    "Only services hear of it. The system ends the process some seconds later, so exit before."
);
listener!(
    CtrlShutdown,
    ctrl_shutdown,
    Shutdown,
    "the shutdown of the system",
    "Only services hear of it. The system ends the process some seconds later, so exit before."
);
