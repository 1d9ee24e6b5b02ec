//! Tests of the code that the macros generate, and of their errors. The tests of `raddle` use the
//! macros.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};

use crate::expand;
use crate::facade::Facade;
use crate::select::select;
use crate::sim;

/// Returns the text of the tokens without spaces.
fn text(tokens: TokenStream) -> String {
    tokens.to_string().replace(' ', "")
}

fn main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::main(Facade::Raddle, true, arguments, item)
}

fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand::test(Facade::Raddle, true, arguments, item)
}

#[track_caller]
fn assert_refused(output: TokenStream, words: &str) {
    let output = output.to_string();
    assert!(output.contains("compile_error"), "accepted: {output}");
    assert!(output.contains(words), "another error: {output}");
}

#[test]
fn main_is_multi_threaded_by_default() {
    let output = text(main(
        quote!(),
        quote!(
            async fn main() {}
        ),
    ));
    assert!(output.starts_with("fnmain()"), "{output}");
    assert!(
        output.contains("::raddle::runtime::Builder::new_multi_thread().enable_all()"),
        "{output}"
    );
}

#[test]
fn test_is_current_thread_by_default() {
    let output = text(test(
        quote!(),
        quote!(
            #[ignore]
            async fn it() -> u8 {
                7
            }
        ),
    ));
    assert!(
        output.starts_with("#[::core::prelude::v1::test]#[ignore]fnit()->u8"),
        "{output}"
    );
    assert!(output.contains("Builder::new_current_thread()"), "{output}");
}

#[test]
fn arguments_configure_the_runtime() {
    let arguments = quote!(flavor = "multi_thread", worker_threads = 3, crate = "a::b",);
    let output = text(test(
        arguments,
        quote!(
            async fn it() {}
        ),
    ));
    assert!(
        output.contains("a::b::runtime::Builder::new_multi_thread().worker_threads(3)"),
        "{output}"
    );
    let output = text(main(
        quote!(flavor = "current_thread"),
        quote!(
            async fn main() {}
        ),
    ));
    assert!(output.contains("new_current_thread"), "{output}");
    let output = text(test(
        quote!(name = "web", unhandled_panic = "shutdown_runtime"),
        quote!(
            async fn it() {}
        ),
    ));
    assert!(
        output.contains(
            ".name(\"web\").unhandled_panic(::raddle::runtime::UnhandledPanic::ShutdownRuntime)"
        ),
        "{output}"
    );
    let output = text(test(
        quote!(start_paused = true),
        quote!(
            async fn it() {}
        ),
    ));
    assert!(
        output.contains("new_current_thread().start_paused(true)"),
        "{output}"
    );
}

#[test]
fn parameters_and_receivers_of_the_function_are_kept() {
    let item = quote!(
        pub async fn run(&self, x: u32) -> u32 {
            x
        }
    );
    let output = text(main(quote!(), item));
    assert!(output.starts_with("pubfnrun(&self,x:u32)->u32"), "{output}");
}

#[test]
fn invalid_arguments_are_refused() {
    let cases = [
        (quote!(flavour = "multi_thread"), "unknown argument"),
        (quote!(a::b = 1), "unknown argument"),
        (quote!(flavor = "threaded"), "no such flavor"),
        (quote!(flavor = 1), "no such flavor"),
        (quote!(worker_threads = 0), "from 1 up"),
        (quote!(worker_threads = "2"), "from 1 up"),
        (quote!(worker_threads = 65536), "at most 65535"),
        (
            quote!(worker_threads = 99999999999999999999),
            "at most 65535",
        ),
        (quote!(crate = "not a path"), "must be a path"),
        (quote!(start_paused = true), "of a current-thread runtime"),
        (quote!(start_paused = 1), "`true` or `false`"),
        (
            quote!(flavor = "multi_thread", flavor = "multi_thread"),
            "given twice",
        ),
        (
            quote!(flavor = "current_thread", worker_threads = 2),
            "has no workers",
        ),
        (quote!(flavor), "expected"),
        (quote!(flavor: "local"), "expected `flavor = value`"),
        (quote!(local), r#"write `flavor = \"local\"`"#),
        (quote!("local"), r#"write `flavor = \"local\"`"#),
    ];
    for (arguments, words) in cases {
        assert_refused(
            main(
                arguments,
                quote!(
                    async fn main() {}
                ),
            ),
            words,
        );
    }
    assert_refused(
        test(
            quote!(worker_threads = 2),
            quote!(
                async fn it() {}
            ),
        ),
        "has no workers",
    );
}

#[test]
fn invalid_functions_are_refused() {
    assert_refused(
        main(
            quote!(),
            quote!(
                fn main() {}
            ),
        ),
        "write `async fn`",
    );
    assert_refused(
        test(
            quote!(),
            quote!(
                fn it() {}
            ),
        ),
        "write `async fn`",
    );
    assert_refused(
        main(
            quote!(),
            quote!(
                async fn main(x: u8) {}
            ),
        ),
        "takes no arguments",
    );
    assert_refused(
        test(
            quote!(),
            quote!(
                async fn it(x: u8) {}
            ),
        ),
        "takes no arguments",
    );
    assert_refused(
        test(
            quote!(),
            quote!(
                #[test]
                async fn it() {}
            ),
        ),
        "run the test twice",
    );
    assert_refused(
        main(
            quote!(),
            quote!(
                struct Main;
            ),
        ),
        "expected",
    );
}

#[test]
fn select_without_branches_or_with_too_many_is_refused() {
    assert_refused(select(quote!([x] [] [])), "nothing to wait for");
    assert_refused(select(quote!([x] [biased] [])), "nothing to wait for");
    let branch = quote!({ [_][a][{}] });
    let branches = std::iter::repeat_n(&branch, 65);
    assert_refused(
        select(quote!([x] [] [#(#branches)*])),
        "nest a second `select!`",
    );
    let branches = std::iter::repeat_n(&branch, 64);
    let output = text(select(quote!([x] [] [#(#branches)*])));
    assert!(!output.contains("compile_error"), "{output}");
}

#[test]
fn a_biased_select_uses_no_random_number() {
    let random = "x::macros::support::random_below(1usize)";
    let output = text(select(quote!([x] [] [{[b] [a] [{}]}])));
    assert!(output.contains(random), "{output}");
    let output = text(select(quote!([x][biased][{ [b][a][{}] }])));
    assert!(!output.contains(random), "{output}");
}

#[test]
fn parentheses_in_generics_are_not_read_as_parameters() {
    let item = quote!(
        async fn main<F: Fn(u8) -> Vec<u8>>(f: F) {}
    );
    assert_refused(main(quote!(), item), "takes no arguments");
    let item = quote!(
        async fn main<F: Fn(u8) -> Vec<u8>>() {}
    );
    let output = text(main(quote!(), item));
    assert!(
        output.starts_with("fnmain<F:Fn(u8)->Vec<u8>>(){"),
        "{output}"
    );
}

#[test]
fn inner_attributes_stay_at_the_start_of_the_body() {
    let item = quote!(
        async fn main() {
            #![allow(unused)]
            #![deny(dead_code)]
            let x = 1;
        }
    );
    let output = text(main(quote!(), item));
    let start = "fnmain(){#![allow(unused)]#![deny(dead_code)]let__raddle_body=async{letx=1;};";
    assert!(output.starts_with(start), "{output}");
}

#[test]
fn groups_without_delimiters_are_transparent() {
    let invisible = |tokens| TokenTree::from(Group::new(Delimiter::None, tokens)).to_token_stream();
    let body = invisible(quote!({ 7 }));
    let visibility = invisible(quote!(pub(crate)));
    let output = text(main(
        quote!(),
        quote!(#visibility async fn main() -> u8 #body),
    ));
    assert!(output.contains("async{7}"), "{output}");
    let item = invisible(quote!(
        async fn main() {}
    ));
    let flavor = invisible(quote!("current_thread"));
    let output = text(main(quote!(flavor = #flavor), item));
    assert!(output.contains("new_current_thread()"), "{output}");
}

#[test]
fn without_multi_thread_runtimes_the_flavor_must_be_given() {
    let function = quote!(
        async fn main() {}
    );
    let output = expand::main(Facade::Raddle, false, quote!(), function.clone());
    assert_refused(output, "the feature `rt-multi-thread` is off");
    let arguments = quote!(flavor = "current_thread");
    let output = text(expand::main(Facade::Raddle, false, arguments, function));
    assert!(output.contains("new_current_thread()"), "{output}");
}

#[test]
fn the_attributes_of_the_stand_in_name_it() {
    let function = quote!(
        async fn it() {}
    );
    let output = text(expand::test(Facade::Tokio, true, quote!(), function));
    assert!(output.contains("returntokio::runtime::Builder"), "{output}");
}

#[test]
fn a_simulation_runs_with_100_seeds_by_default() {
    let item = quote!(
        #[should_panic]
        pub fn it(sim: &mut Sim) {
            #![allow(unused)]
            sim.run()
        }
    );
    let output = text(sim::test(quote!(), item));
    let expected = "#[::core::prelude::v1::test]#[should_panic]pubfnit(){\
                    fnit(sim:&mutSim){#![allow(unused)]sim.run()}\
                    ::raddle_sim::check(::core::concat!(::core::module_path!(),\"::\",\"it\"),\
                    100u64,it);}";
    assert_eq!(output, expected);
}

#[test]
fn the_number_of_seeds_is_an_argument() {
    for seeds in [quote!(seeds = 2_000), quote!(seeds = 2000u64,)] {
        let item = quote!(
            fn r#try(sim: &mut Sim) -> () {
                sim.run();
            }
        );
        let output = text(sim::test(seeds, item));
        assert!(output.contains("\"r#try\"),2000u64,r#try);"), "{output}");
    }
}

#[test]
fn invalid_tests_of_simulations_are_refused() {
    let item = quote!(
        fn it(sim: &mut Sim) {}
    );
    let cases = [
        (quote!(seeds = 0), "from 1 up"),
        (quote!(seeds = "9"), "from 1 up"),
        (
            quote!(seeds = 18446744073709551616),
            "at most 18446744073709551615",
        ),
        (quote!(seeds = 1, seeds = 2), "given twice"),
        (quote!(seed = 1), "unknown argument; there is `seeds`"),
        (quote!(100), "unknown argument; there is `seeds`"),
        (quote!(seeds), "expected `seeds = value`"),
    ];
    for (arguments, words) in cases {
        assert_refused(sim::test(arguments, item.clone()), words);
    }
    let cases = [
        (
            quote!(
                async fn it(sim: &mut Sim) {}
            ),
            "leave `async` out",
        ),
        (
            quote!(
                const fn it(sim: &mut Sim) {}
            ),
            "leave `const` out",
        ),
        (
            quote!(
                fn it() {}
            ),
            "takes the simulation",
        ),
        (
            quote!(
                fn it(sim: &mut Sim) -> u8 {}
            ),
            "returns nothing",
        ),
        (
            quote!(
                fn it(sim: &mut Sim) -> (u8) {}
            ),
            "returns nothing",
        ),
        (
            quote!(
                #[test]
                fn it(sim: &mut Sim) {}
            ),
            "run the test twice",
        ),
        (
            quote!(
                struct Sim;
            ),
            "expected a function",
        ),
    ];
    for (item, words) in cases {
        assert_refused(sim::test(quote!(), item), words);
    }
}
