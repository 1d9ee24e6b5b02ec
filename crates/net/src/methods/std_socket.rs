//! Conversion from and into the type of std.

/// Writes `from_std`, `into_std` and `TryFrom` for a type that has the same name in std and in
/// mio, and a function `new` that registers mio's. `$noun` is what the documentation calls it.
macro_rules! std_socket {
    (
        $name:ident, $noun:literal, $value:ident: $std:ty;
        $(#[$from_std:meta])* from_std,
        $(#[$into_std:meta])* into_std,
    ) => {
        impl $name {
            #[doc = concat!("Converts a ", $noun, " of std's type, which must be in")]
            /// non-blocking mode, and registers it with the current reactor.
            ///
            /// # Errors
            ///
            /// Returns an error if the reactor has shut down, or if the system has no memory for
            /// the registration.
            ///
            /// # Panics
            ///
            /// Panics if no reactor is current, as in a runtime without `enable_io`; in debug
            /// builds on Unix also if the socket is in blocking mode.
            $(#[$from_std])*
            #[track_caller]
            pub fn from_std($value: $std) -> std::io::Result<$name> {
                crate::evented::debug_assert_nonblocking(&$value);
                $name::new(mio::net::$name::from_std($value))
            }

            #[doc = concat!("Deregisters the ", $noun, " and converts it into std's type.")]
            /// It stays in non-blocking mode.
            ///
            /// # Errors
            ///
            /// Returns an error if the system cannot deregister the descriptor.
            $(#[$into_std])*
            pub fn into_std(self) -> std::io::Result<$std> {
                Ok(self.io.into_inner()?.into())
            }
        }

        impl TryFrom<$std> for $name {
            type Error = std::io::Error;

            #[doc = concat!("The same as [`", stringify!($name), "::from_std`].")]
            fn try_from($value: $std) -> std::io::Result<$name> {
                $name::from_std($value)
            }
        }
    };
}

pub(crate) use std_socket;
