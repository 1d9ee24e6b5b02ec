//! `join!` and `try_join!`: the code for their futures.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use crate::branches::{Names, Prefix, start_branches};
use crate::tokens::contents;

pub(crate) fn join(input: TokenStream) -> TokenStream {
    expand(input, &Kind::Join)
}

pub(crate) fn try_join(input: TokenStream) -> TokenStream {
    expand(input, &Kind::TryJoin)
}

enum Kind {
    /// Waits for all.
    Join,
    /// Waits for all, or for the first error.
    TryJoin,
}

/// `input` is `[$crate] [biased]`, or `[$crate] []`, and then `[future]` for each.
fn expand(input: TokenStream, kind: &Kind) -> TokenStream {
    let site = Span::mixed_site();
    let mut groups = contents(input).into_iter();
    let (Some(support_crate), Some(biased)) = (groups.next(), groups.next()) else {
        unreachable!("the `macro_rules!` write at least two groups");
    };
    let prefix = Prefix::new(support_crate, &biased);
    let expressions: Vec<TokenStream> = groups.collect();
    let support = prefix.support();
    let count = expressions.len();
    if count == 0 {
        return match kind {
            Kind::Join => quote_spanned!(site=> async {}.await),
            Kind::TryJoin => quote_spanned!(site=> async { ::core::result::Result::Ok(()) }.await),
        };
    }

    // A future that is always ready uses up the budget, so each poll starts with another future.
    let (first_start, next_start) = match prefix.biased {
        true => (None, quote_spanned!(site=> let __raddle_start = 0;)),
        false => (
            Some(quote_spanned!(site=> let mut __raddle_next_start: ::core::primitive::u32 = 0;)),
            quote_spanned! {site=>
                let __raddle_start = __raddle_next_start as ::core::primitive::usize;
                __raddle_next_start = #support::wrap(__raddle_start + 1, #count) as ::core::primitive::u32;
            },
        ),
    };
    let Names { indices, futures } = Names::new(count);
    let branch = match kind {
        Kind::Join => "join_branch",
        Kind::TryJoin => "try_join_branch",
    };
    let group = start_branches(&support, branch, &expressions.iter().collect::<Vec<_>>());
    let outputs = quote_spanned!(site=> (#(#futures.take_output(),)*));
    let (look, result) = match kind {
        Kind::Join => (None, outputs),
        Kind::TryJoin => {
            let look = futures.iter().map(|future| {
                quote_spanned! {site=>
                    if let ::core::option::Option::Some(__raddle_error) = #future.take_error() {
                        return #support::Poll::Ready(::core::result::Result::Err(__raddle_error));
                    }
                }
            });
            let outputs = quote_spanned!(site=> (#(#futures.take_ok(),)*));
            let result = quote_spanned!(site=> ::core::result::Result::Ok(#outputs));
            (Some(look.collect::<Vec<_>>()), result)
        }
    };
    let look = look.unwrap_or_else(|| vec![TokenStream::new(); count]);
    quote_spanned! {site=> {
        let __raddle_futures = (#(#expressions,)*);
        // The closure owns its captures, so that the waiting future stores each of them once.
        let mut __raddle_futures = ::core::pin::pin!(#group);
        #first_start
        let __raddle_output = #support::poll_fn(move |__raddle_cx: &mut #support::Context<'_>| {
            #next_start
            let mut __raddle_waiting = false;
            for __raddle_turn in 0..#count {
                match #support::wrap(__raddle_start + __raddle_turn, #count) {
                    #(
                        #indices => match #futures.poll_done(__raddle_cx) {
                            #support::Poll::Pending => __raddle_waiting = true,
                            #support::Poll::Ready(()) => { #look }
                        },
                    )*
                    _ => {}
                }
            }
            match __raddle_waiting {
                true => #support::Poll::Pending,
                false => #support::Poll::Ready(#result),
            }
        })
        .await;
        __raddle_output
    }}
}
