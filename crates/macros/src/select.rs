//! `select!`: parses the branches and generates their code.

use proc_macro2::{Delimiter, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{format_ident, quote_spanned};

use crate::branches::{Names, Prefix, start_branches};
use crate::error::{Error, Result};
use crate::tokens::contents;

/// Each branch has a bit of a `u64`, which is set if the branch is disabled.
const MAX_BRANCHES: usize = 64;

pub(crate) fn select(input: TokenStream) -> TokenStream {
    match Select::new(input) {
        Ok(select) => select.expand(),
        Err(error) => error.into_compile_error(),
    }
}

struct Select {
    prefix: Prefix,
    branches: Vec<Branch>,
    /// The handler for when every branch is disabled.
    otherwise: Option<TokenStream>,
}

/// `pattern = future, if condition => handler`
struct Branch {
    pattern: TokenStream,
    future: TokenStream,
    condition: Option<TokenStream>,
    handler: TokenStream,
}

impl Select {
    /// Reads `[$crate] [biased] [branches] [handler of else]`. The second may be empty, the last
    /// may be missing.
    fn new(input: TokenStream) -> Result<Self> {
        let mut groups = contents(input).into_iter();
        let (Some(support_crate), Some(biased), Some(branches)) =
            (groups.next(), groups.next(), groups.next())
        else {
            unreachable!("the `macro_rules!` write at least three groups");
        };
        let branches: Vec<_> = contents(branches).into_iter().map(Branch::new).collect();
        let otherwise = groups.next();
        if branches.is_empty() && otherwise.is_none() {
            let message = "nothing to wait for; write `pattern = future => handler`";
            return Err(Error::new(Span::call_site(), message));
        }
        if branches.len() > MAX_BRANCHES {
            let message = "more than 64 branches; nest a second `select!`";
            return Err(Error::new(Span::call_site(), message));
        }
        Ok(Self {
            prefix: Prefix::new(support_crate, &biased),
            branches,
            otherwise,
        })
    }
}

impl Branch {
    /// Reads `[pattern] [future] [handler] [condition]`, of which the last may be missing.
    fn new(branch: TokenStream) -> Self {
        let mut groups = contents(branch).into_iter();
        let (Some(pattern), Some(future), Some(handler)) =
            (groups.next(), groups.next(), groups.next())
        else {
            unreachable!("the `macro_rules!` write at least three groups a branch");
        };
        Self {
            handler: located(handler, &future),
            pattern,
            future,
            condition: groups.next(),
        }
    }
}

/// Gives a block the position of its content, or else that of `future`.
///
/// The `macro_rules!` read a block as the content of its braces, and write the braces themselves.
/// The compiler would report a block of the wrong type at the whole `select!`.
fn located(handler: TokenStream, future: &TokenStream) -> TokenStream {
    let mut tokens = handler.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(mut block)), None) if block.delimiter() == Delimiter::Brace => {
            let inside = block.stream().into_iter().next();
            if let Some(token) = inside.or_else(|| last_visible(future.clone())) {
                block.set_span(token.span());
            }
            TokenTree::Group(block).into()
        }
        _ => handler,
    }
}

/// Returns the last token, which may be in invisible groups.
fn last_visible(tokens: TokenStream) -> Option<TokenTree> {
    match tokens.into_iter().last()? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            last_visible(group.stream())
        }
        token => Some(token),
    }
}

impl Select {
    fn expand(self) -> TokenStream {
        let site = Span::mixed_site();
        let support = self.prefix.support();
        let otherwise = self.otherwise.unwrap_or_else(|| {
            let message = "every branch of select! is disabled; add an else branch";
            quote_spanned!(site=> ::core::panic!(#message))
        });
        if self.branches.is_empty() {
            return otherwise;
        }

        let count = self.branches.len();
        let start = match self.prefix.biased {
            true => quote_spanned!(site=> 0),
            false => quote_spanned!(site=> #support::random_below(#count)),
        };
        // Unlike a variable, an item is visible to the handlers.
        let output = Ident::new("__RaddleSelectOutput", site);
        let Names {
            indices, futures, ..
        } = Names::new(count);
        let variants: Vec<Ident> = (0..count).map(|n| format_ident!("Branch{n}")).collect();
        let masks = (0..count).map(|n| Literal::u64_unsuffixed(1 << n));
        let masks: Vec<_> = masks.collect();
        // The smallest type with enough bits, because the mask is part of the future.
        let mask = match count {
            ..=8 => quote_spanned!(site=> ::core::primitive::u8),
            9..=16 => quote_spanned!(site=> ::core::primitive::u16),
            17..=32 => quote_spanned!(site=> ::core::primitive::u32),
            _ => quote_spanned!(site=> ::core::primitive::u64),
        };
        let handlers = self.branches.iter().map(|branch| &branch.handler);
        let patterns: Vec<&TokenStream> =
            self.branches.iter().map(|branch| &branch.pattern).collect();
        let expressions: Vec<&TokenStream> =
            self.branches.iter().map(|branch| &branch.future).collect();
        let group = start_branches(&support, "select_branch", &expressions);
        let conditions = self
            .branches
            .iter()
            .zip(&masks)
            .filter_map(|(branch, mask)| {
                let condition = branch.condition.as_ref()?;
                Some(quote_spanned! {site=>
                    let __raddle_enabled: ::core::primitive::bool = #condition;
                    if !__raddle_enabled {
                        __raddle_disabled |= #mask;
                    }
                })
            });

        // A guard checks whether a pattern matches, since it binds without moving: the value then
        // goes to the handler, or is dropped. The `continue` lets the compiler infer the type of
        // the output if the future only panics.
        quote_spanned! {site=> {
            enum #output<#(#variants),*> {
                #(#variants(#variants),)*
                Else,
            }
            let mut __raddle_disabled: #mask = 0;
            #(#conditions)*
            let __raddle_output = {
                let __raddle_futures = (#(#expressions,)*);
                // The closure owns its captures, so that the waiting future stores each of them
                // once.
                let mut __raddle_futures = ::core::pin::pin!(#group);
                let __raddle_output = #support::poll_branches(move |__raddle_cx: &mut #support::Context<'_>| {
                    let mut __raddle_waiting = false;
                    let __raddle_start = #start;
                    for __raddle_turn in 0..#count {
                        match #support::wrap(__raddle_start + __raddle_turn, #count) {
                            #(
                                #indices if __raddle_disabled & #masks == 0 => {
                                    let __raddle_polled = #support::Future::poll(#futures, __raddle_cx);
                                    #[allow(unused_mut)]
                                    let mut __raddle_value = match __raddle_polled {
                                        #support::Poll::Ready(__raddle_value) => __raddle_value,
                                        #support::Poll::Pending => {
                                            __raddle_waiting = true;
                                            continue;
                                        }
                                    };
                                    __raddle_disabled |= #masks;
                                    let mut __raddle_matches = false;
                                    #[allow(
                                        unused_mut,
                                        unused_variables,
                                        unreachable_code,
                                        unreachable_patterns
                                    )]
                                    match __raddle_value {
                                        #patterns if { __raddle_matches = true; false } => {
                                            ::core::unreachable!()
                                        }
                                        _ => {}
                                    }
                                    if __raddle_matches {
                                        return #support::Poll::Ready(#output::#variants(__raddle_value));
                                    }
                                }
                            )*
                            _ => {}
                        }
                    }
                    match __raddle_waiting {
                        true => #support::Poll::Pending,
                        false => #support::Poll::Ready(#output::Else),
                    }
                })
                .await;
                __raddle_output
            };
            #[allow(unused_mut)]
            let mut __raddle_output = __raddle_output;
            match __raddle_output {
                #(
                    // A future that only panics has an output type without values.
                    #[allow(unreachable_patterns)]
                    #output::#variants(#patterns) => #handlers,
                )*
                #output::Else => #otherwise,
                #[allow(unreachable_patterns)]
                _ => ::core::unreachable!("the pattern has matched before"),
            }
        }}
    }
}
