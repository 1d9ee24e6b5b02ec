//! The budget of one poll: makes an always-ready resource yield.
