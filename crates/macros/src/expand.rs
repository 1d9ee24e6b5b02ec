//! Making an async function a synchronous one that runs itself.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::arguments::{Arguments, Attribute, Flavor};
use crate::error::{Error, Result};
use crate::facade::Facade;
use crate::function::Function;

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
        if function.name == "main" {
            function.refuse_inputs("`main` takes no arguments; read them from `std::env::args`")?;
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
        function.refuse_inputs("a test takes no arguments; move them into its body")?;
        if let Some(test) = function.attribute("test") {
            let message = "this would run the test twice; leave the second attribute out";
            return Err(Error::new(test, message));
        }
        Ok(quote!(#[::core::prelude::v1::test]))
    })
}

/// Generates an error, and the function without its body.
pub(crate) fn without_runtime(item: TokenStream) -> TokenStream {
    let message = "the feature `rt` is off; add `rt` or `rt-multi-thread` to the features of the \
                   dependency in Cargo.toml";
    let error = Error::new(Span::call_site(), message).into_compile_error();
    match Function::parse(item.clone()) {
        Ok(function) => {
            let function = function.with_body(&quote!(loop {}));
            quote!(#error #function)
        }
        Err(_) => quote!(#error #item),
    }
}

/// Generates the function for `arguments`, preceded by the tokens that `check` returns.
///
/// After an error, the function is still generated, as if no arguments were given, so that the
/// compiler reports no further error.
fn expand(
    arguments: TokenStream,
    item: TokenStream,
    attribute: Attribute,
    check: impl FnOnce(&mut Function) -> Result<TokenStream>,
) -> TokenStream {
    let mut function = match Function::parse(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#error #item);
        }
    };
    let parsed = check_async(&function)
        .and_then(|()| check(&mut function))
        .and_then(|head| Ok((head, Arguments::parse(arguments, attribute)?)));
    match parsed {
        Ok((head, arguments)) => {
            let function = synchronous(&function, &arguments);
            quote!(#head #function)
        }
        Err(error) => {
            let error = error.into_compile_error();
            let function = synchronous(&function, &Arguments::new(attribute));
            quote!(#error #function)
        }
    }
}

fn check_async(function: &Function) -> Result<()> {
    if !function.is_async {
        let message = "only an async function needs a runtime; write `async fn`";
        return Err(Error::new(function.fn_span, message));
    }
    function.check_not_const()
}

/// Returns the function without `async`; a runtime runs its body to completion.
fn synchronous(function: &Function, arguments: &Arguments) -> TokenStream {
    let raddle = &arguments.raddle;
    let body = &function.body;
    // With this span, a result of the wrong type is reported at the expression that returns it.
    let span = function
        .last_statement()
        .unwrap_or_else(Span::call_site)
        .resolved_at(Span::call_site());
    let flavor = match arguments.flavor {
        Flavor::MultiThread => quote_spanned!(span=> new_multi_thread),
        Flavor::CurrentThread | Flavor::Local => quote_spanned!(span=> new_current_thread),
    };
    let workers = arguments
        .worker_threads
        .as_ref()
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
    function.with_body(&quote_spanned! {span=>
        let __raddle_body = async #body;
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
                .block_on(__raddle_body);
        }
    })
}
