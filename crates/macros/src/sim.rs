//! Making a function that runs a simulation a test of many seeds.

use proc_macro2::TokenStream;
use quote::quote;

use crate::arguments::{name_and_value, positive};
use crate::error::{Error, Result};
use crate::function::Function;
use crate::tokens::split;

/// The number of seeds if no argument gives it.
const SEEDS: u64 = 100;

/// Generates a test that passes the function to `raddle_sim::check`.
///
/// After an error, the function is still generated, so that the compiler reports no further error.
pub(crate) fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let parsed = Function::parse(item.clone()).and_then(|function| {
        check(&function)?;
        Ok((function, seeds(arguments)?))
    });
    let (function, seeds) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#error #[allow(dead_code, unused_attributes)] #item);
        }
    };
    let name = &function.name;
    let text = name.to_string();
    let function = function.with_own_inside(&quote! {
        ::raddle_sim::check(
            ::core::concat!(::core::module_path!(), "::", #text),
            #seeds,
            #name
        );
    });
    quote!(#[::core::prelude::v1::test] #function)
}

fn check(function: &Function) -> Result<()> {
    function.check_not_const()?;
    if function.is_async {
        let message = "the hosts of a simulation are async, not the test; leave `async` out";
        return Err(Error::new(function.fn_span, message));
    }
    if function.inputs.stream().is_empty() {
        let message = "the test takes the simulation; write `sim: &mut raddle_sim::Sim`";
        return Err(Error::new(function.inputs.span(), message));
    }
    if let Some(result) = function.result() {
        let message = "the test returns nothing; leave the result out and end with `sim.run()`";
        return Err(Error::new(result, message));
    }
    if let Some(test) = function.attribute("test") {
        let message = "this would run the test twice; leave the second attribute out";
        return Err(Error::new(test, message));
    }
    Ok(())
}

/// Reads `seeds = N`.
fn seeds(arguments: TokenStream) -> Result<u64> {
    let mut seeds = None;
    for pair in split(arguments, ',') {
        let (name, span, value) = name_and_value(pair, &["seeds"])?;
        if seeds.is_some() {
            return Err(Error::new(span, "`seeds` is given twice; leave one out"));
        }
        seeds = Some(positive(&name, &value, "u64", u64::MAX)?);
    }
    Ok(seeds.unwrap_or(SEEDS))
}
