//! The macros without the feature `macros`. The compiler does not say which feature exports a
//! macro, so these do.

/// Needs the feature `macros`.
#[doc(hidden)]
#[macro_export]
macro_rules! select {
    ($($tokens:tt)*) => {
        ::core::compile_error!(
            "the feature `macros` is off; add it to the features of the dependency in Cargo.toml"
        )
    };
}

/// Needs the feature `macros`.
#[doc(hidden)]
#[macro_export]
macro_rules! join {
    ($($tokens:tt)*) => {
        ::core::compile_error!(
            "the feature `macros` is off; add it to the features of the dependency in Cargo.toml"
        )
    };
}

/// Needs the feature `macros`.
#[doc(hidden)]
#[macro_export]
macro_rules! try_join {
    ($($tokens:tt)*) => {
        ::core::compile_error!(
            "the feature `macros` is off; add it to the features of the dependency in Cargo.toml"
        )
    };
}
