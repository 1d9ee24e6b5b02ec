//! Making an async function a synchronous one that runs itself.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, ItemFn, Result, parse_quote_spanned};

use crate::arguments::{Arguments, Attribute, Flavor};
use crate::facade::Facade;

pub(crate) fn main(
    facade: Facade,
    multi_thread: bool,
    arguments: TokenStream,
    item: TokenStream,
) -> TokenStream {
    let attribute = Attribute {
        default: Flavor::MultiThread,
        multi_thread,
        facade,
    };
    expand(arguments, item, attribute, |function| {
        if function.sig.ident == "main" && !function.sig.inputs.is_empty() {
            let message = "`main` takes no arguments; read them from `std::env::args`";
            return Err(Error::new(function.sig.inputs.span(), message));
        }
        Ok(TokenStream::new())
    })
}

pub(crate) fn test(
    facade: Facade,
    multi_thread: bool,
    arguments: TokenStream,
    item: TokenStream,
) -> TokenStream {
    let attribute = Attribute {
        default: Flavor::CurrentThread,
        multi_thread,
        facade,
    };
    expand(arguments, item, attribute, |function| {
        if !function.sig.inputs.is_empty() {
            let message = "a test takes no arguments; move them into its body";
            return Err(Error::new(function.sig.inputs.span(), message));
        }
        if let Some(test) = function.attrs.iter().find(|a| a.path().is_ident("test")) {
            let message = "this would run the test twice; leave the second attribute out";
            return Err(Error::new(test.span(), message));
        }
        Ok(quote!(#[::core::prelude::v1::test]))
    })
}

/// Writes the function for `arguments`, headed by what `check` answers.
///
/// Where something is wrong, the function is written all the same, as if no
/// arguments were given, so that the error is the only one that is reported.
fn expand(
    arguments: TokenStream,
    item: TokenStream,
    attribute: Attribute,
    check: impl FnOnce(&ItemFn) -> Result<TokenStream>,
) -> TokenStream {
    let function: ItemFn = match syn::parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#error #item);
        }
    };
    let parsed = check_async(&function)
        .and_then(|()| check(&function))
        .and_then(|head| Ok((head, Arguments::parse(arguments, attribute)?)));
    match parsed {
        Ok((head, arguments)) => {
            let function = synchronous(function, &arguments);
            quote!(#head #function)
        }
        Err(error) => {
            let error = error.into_compile_error();
            let function = synchronous(function, &Arguments::new(attribute));
            quote!(#error #function)
        }
    }
}

fn check_async(function: &ItemFn) -> Result<()> {
    if function.sig.asyncness.is_none() {
        let message = "only an async function needs a runtime; write `async fn`";
        return Err(Error::new(function.sig.fn_token.span(), message));
    }
    Ok(())
}

/// The function without `async`, its body run to the end by a runtime.
fn synchronous(mut function: ItemFn, arguments: &Arguments) -> ItemFn {
    function.sig.asyncness = None;
    let raddle = &arguments.raddle;
    let body = &function.block;
    // A wrong result is then reported at the expression that gives it.
    let span = body
        .stmts
        .last()
        .map_or_else(Span::call_site, |statement| statement.span())
        .resolved_at(Span::call_site());
    let flavor = match arguments.flavor {
        Flavor::MultiThread => quote_spanned!(span=> new_multi_thread),
        Flavor::CurrentThread | Flavor::Local => quote_spanned!(span=> new_current_thread),
    };
    let workers = arguments
        .worker_threads
        .map(|count| quote_spanned!(span=> .worker_threads(#count)));
    let paused = arguments
        .start_paused
        .then(|| quote_spanned!(span=> .start_paused(true)));
    let name = arguments
        .name
        .as_ref()
        .map(|name| quote_spanned!(span=> .name(#name)));
    let unhandled_panic = arguments.unhandled_panic.map(|policy| {
        let policy = Ident::new(policy, span);
        quote_spanned!(span=> .unhandled_panic(#raddle::runtime::UnhandledPanic::#policy))
    });
    let build = match arguments.flavor {
        Flavor::Local => {
            quote_spanned!(span=> build_local(#raddle::runtime::LocalOptions::default()))
        }
        _ => quote_spanned!(span=> build()),
    };
    *function.block = parse_quote_spanned! {span=>
        {
            let body = async #body;
            #[allow(
                clippy::expect_used,
                clippy::diverging_sub_expression,
                clippy::needless_return,
                clippy::unwrap_in_result
            )]
            {
                return #raddle::runtime::Builder::#flavor()
                    #workers
                    #paused
                    #name
                    #unhandled_panic
                    .enable_all()
                    .#build
                    .expect("the runtime could not be built")
                    .block_on(body);
            }
        }
    };
    function
}
