//! `select!`: parses the branches and generates their code.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::branches::{Names, Prefix, grouped};
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
            pattern,
            future,
            condition: groups.next(),
            handler,
        }
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
        let group = grouped(
            &support,
            indices
                .iter()
                .map(|n| quote_spanned!(site=> #support::IntoFuture::into_future(futures.#n)))
                .collect(),
        );
        let handlers = self.branches.iter().map(|branch| &branch.handler);
        let patterns: Vec<&TokenStream> =
            self.branches.iter().map(|branch| &branch.pattern).collect();
        let expressions = self.branches.iter().map(|branch| &branch.future);
        let conditions = self
            .branches
            .iter()
            .zip(&masks)
            .filter_map(|(branch, mask)| {
                let condition = branch.condition.as_ref()?;
                Some(quote_spanned! {site=>
                    let enabled: ::core::primitive::bool = #condition;
                    if !enabled {
                        disabled |= #mask;
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
            let mut disabled: #mask = 0;
            #(#conditions)*
            let output = {
                let futures = (#(#expressions,)*);
                // The closure owns its captures, so that the waiting future stores each of them
                // once.
                let mut futures = ::core::pin::pin!(#group);
                let output = #support::poll_fn(move |cx: &mut #support::Context<'_>| {
                    if #support::poll_budget(cx).is_pending() {
                        return #support::Poll::Pending;
                    }
                    let mut waiting = false;
                    let start = #start;
                    for turn in 0..#count {
                        match #support::wrap(start + turn, #count) {
                            #(
                                #indices if disabled & #masks == 0 => {
                                    let polled = #support::Future::poll(#futures, cx);
                                    #[allow(unused_mut)]
                                    let mut value = match polled {
                                        #support::Poll::Ready(value) => value,
                                        #support::Poll::Pending => {
                                            waiting = true;
                                            continue;
                                        }
                                    };
                                    disabled |= #masks;
                                    let mut matches = false;
                                    #[allow(
                                        unused_mut,
                                        unused_variables,
                                        unreachable_code,
                                        unreachable_patterns
                                    )]
                                    match value {
                                        #patterns if { matches = true; false } => {
                                            ::core::unreachable!()
                                        }
                                        _ => {}
                                    }
                                    if matches {
                                        return #support::Poll::Ready(#output::#variants(value));
                                    }
                                }
                            )*
                            _ => {}
                        }
                    }
                    match waiting {
                        true => #support::Poll::Pending,
                        false => #support::Poll::Ready(#output::Else),
                    }
                })
                .await;
                output
            };
            #[allow(unused_mut)]
            let mut output = output;
            match output {
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
