//! What the macros that wait for several futures have in common.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::{Index, Result, Token, bracketed};

/// `[$crate]`, which the facade's macro puts before what the user wrote, and
/// `biased;`, if that is what this begins with.
pub(crate) struct Prefix {
    facade: TokenStream,
    pub(crate) biased: bool,
}

mod keyword {
    syn::custom_keyword!(biased);
}

impl Parse for Prefix {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let facade;
        bracketed!(facade in input);
        let facade = facade.parse()?;
        let biased = input.peek(keyword::biased) && input.peek2(Token![;]);
        if biased {
            input.parse::<keyword::biased>()?;
            input.parse::<Token![;]>()?;
        }
        Ok(Self { facade, biased })
    }
}

impl Prefix {
    /// The path of what the written code calls.
    pub(crate) fn support(&self) -> TokenStream {
        let facade = &self.facade;
        quote_spanned!(Span::mixed_site()=> #facade::macros::support)
    }
}

/// The branches by number.
pub(crate) struct Names {
    pub(crate) indices: Vec<Index>,
    /// The variables of their futures, which the user's code does not see.
    pub(crate) futures: Vec<Ident>,
}

impl Names {
    pub(crate) fn new(count: usize) -> Self {
        let site = Span::mixed_site();
        Self {
            indices: (0..count)
                .map(|n| Index {
                    index: n as u32,
                    span: site,
                })
                .collect(),
            futures: (0..count)
                .map(|n| format_ident!("future{n}", span = site))
                .collect(),
        }
    }
}
