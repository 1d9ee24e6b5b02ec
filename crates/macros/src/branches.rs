//! The common parts of the macros that wait for several futures.
//!
//! The variables of the generated code begin with `__raddle_`. Hygiene keeps them apart from the
//! caller's variables, but not from its items: where a constant, a static or a unit struct of the
//! same name is in scope, a pattern names that item and binds nothing.

use proc_macro2::{Delimiter, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{format_ident, quote_spanned};

/// The first two groups that the `macro_rules!` write: `[$crate] [biased]`, or `[$crate] []`.
pub(crate) struct Prefix {
    support_crate: TokenStream,
    pub(crate) biased: bool,
}

impl Prefix {
    pub(crate) fn new(support_crate: TokenStream, biased: &TokenStream) -> Self {
        let biased = !biased.is_empty();
        Self {
            support_crate,
            biased,
        }
    }

    /// Returns the path of the functions that the generated code calls.
    pub(crate) fn support(&self) -> TokenStream {
        let support_crate = &self.support_crate;
        quote_spanned!(Span::mixed_site()=> #support_crate::macros::support)
    }
}

/// The numbers and the futures of the branches, as tokens.
pub(crate) struct Names {
    pub(crate) indices: Vec<Literal>,
    /// The pinned futures, as parts of the variable `__raddle_futures`.
    pub(crate) futures: Vec<TokenStream>,
}

/// The number of futures in the largest of the structs of `macros::support` in `raddle`.
const GROUP: usize = 8;

impl Names {
    pub(crate) fn new(count: usize) -> Self {
        let site = Span::mixed_site();
        // A method call could be one of a trait of the caller.
        let pinned = quote_spanned!(site=> ::core::pin::Pin::as_mut(&mut __raddle_futures));
        Self {
            indices: (0..count)
                .map(|n| {
                    let mut index = Literal::usize_unsuffixed(n);
                    index.set_span(site);
                    index
                })
                .collect(),
            futures: parts(&pinned, count),
        }
    }
}

/// Combines futures into one value in which each can be pinned: a struct of `macros::support` in
/// `raddle` for this number of futures, or a struct of such structs.
fn grouped(support: &TokenStream, mut futures: Vec<TokenStream>) -> TokenStream {
    if futures.len() == 1 {
        return futures.remove(0);
    }
    let groups: Vec<_> = match futures.len() <= GROUP {
        true => futures,
        false => futures
            .chunks(group_len(futures.len()))
            .map(|group| grouped(support, group.to_vec()))
            .collect(),
    };
    let together = format_ident!("together{}", groups.len(), span = Span::mixed_site());
    quote_spanned!(Span::mixed_site()=> #support::#together(#(#groups),*))
}

/// Returns the pinned parts of the value of [`grouped`], in order.
fn parts(whole: &TokenStream, count: usize) -> Vec<TokenStream> {
    if count == 1 {
        return vec![whole.clone()];
    }
    let len = match count <= GROUP {
        true => 1,
        false => group_len(count),
    };
    let starts = (0..count).step_by(len);
    let groups = starts.enumerate().map(|(n, start)| {
        let part = format_ident!("part{n}", span = Span::mixed_site());
        let group = quote_spanned!(Span::mixed_site()=> #whole.#part());
        parts(&group, len.min(count - start))
    });
    groups.flatten().collect()
}

/// Returns the number of futures in each group.
fn group_len(count: usize) -> usize {
    count.div_ceil(GROUP)
}

/// Calls the function `branch` of `macros::support` with each part of the tuple `__raddle_futures`,
/// and combines the results into one value.
///
/// What is no future is reported at its expression. The compiler does so only if the path of the
/// function has the hygiene of the argument, so it is a name without `$crate`.
pub(crate) fn start_branches(
    support: &TokenStream,
    branch: &str,
    expressions: &[&TokenStream],
) -> TokenStream {
    let site = Span::mixed_site();
    let branch = Ident::new(branch, site);
    let futures = expressions.iter().enumerate().map(|(n, expression)| {
        let (first, last) = ends((*expression).clone()).unwrap_or((site, site));
        let first = site.located_at(first);
        let mut index = Literal::usize_unsuffixed(n);
        index.set_span(site.located_at(last));
        quote_spanned!(first=> __raddle_branch(__raddle_futures.#index))
    });
    let group = grouped(support, futures.collect());
    quote_spanned!(site=> { use #support::#branch as __raddle_branch; #group })
}

/// Returns the positions of the first and the last token, which may be in invisible groups.
pub(crate) fn ends(tokens: TokenStream) -> Option<(Span, Span)> {
    let open = |token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => ends(group.stream()),
        token => Some((token.span(), token.span())),
    };
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let (first, _) = open(tokens.first()?.clone())?;
    let (_, last) = open(tokens.last()?.clone())?;
    Some((first, last))
}
