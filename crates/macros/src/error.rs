//! The errors in the input of a macro.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// A message, and the position in the user's code that it refers to.
#[derive(Debug)]
pub(crate) struct Error {
    span: Span,
    message: String,
}

impl Error {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
        }
    }

    /// Returns code that makes the compiler report the error.
    pub(crate) fn into_compile_error(self) -> TokenStream {
        let message = self.message;
        quote_spanned!(self.span=> ::core::compile_error! { #message })
    }
}
