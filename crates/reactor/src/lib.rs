//! A mio-based reactor: registrations, readiness and their wakers.
