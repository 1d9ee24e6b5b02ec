//! TCP sockets over the Raddle reactor.
