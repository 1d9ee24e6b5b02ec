//! What is wrong with branches of `select!` that its `macro_rules!` cannot read.

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};

use crate::tokens::{group, is_ident, is_punct};

const FORM: &str = "`pattern = future => handler`";

/// Reads the rest of the input, from the first branch that does not have the form of one.
pub(crate) fn select(rest: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = rest.into_iter().collect();
    let (range, message) = mistake(&tokens);
    let (first, last) = (&tokens[range.0], &tokens[range.1]);
    compile_error(first.span(), last.span(), &message)
}

/// Returns the first and the last token to point at, and the message.
fn mistake(tokens: &[TokenTree]) -> ((usize, usize), String) {
    let last = tokens.len() - 1;
    let at = |place: usize, message: &str| ((place, place), message.to_owned());
    if is_punct(&tokens[0], ',') {
        return at(
            0,
            "a branch is missing before this comma; leave the comma out",
        );
    }
    if is_ident(&tokens[0], "biased") {
        return at(0, "write `biased;`, with a semicolon");
    }
    if is_ident(&tokens[0], "else") {
        return match arrow(tokens, 0) {
            Some(1) if last < 3 => at(last, "no handler after `=>`; write `else => handler`"),
            Some(1) => {
                let first = after_handler(tokens, 3).unwrap_or(last);
                let message = "nothing follows the `else` branch; move it to the end";
                ((first, last), message.to_owned())
            }
            _ => at(1.min(last), "no `=>` after `else`; write `else => handler`"),
        };
    }
    let end = arrow(tokens, 0).unwrap_or(tokens.len());
    let Some(equals) = (0..end).find(|&place| is_equals(tokens, place)) else {
        let last = end.saturating_sub(1).min(last);
        // The `macro_rules!` write this word themselves, without its position.
        let first = usize::from(is_ident(&tokens[0], "async")).min(last);
        return (
            (first, last),
            format!("no `=` in this branch; write {FORM}"),
        );
    };
    if let Some(place) = (0..equals).find(|&place| is_ident(&tokens[place], "if")) {
        let message = "a condition stands after the future; write \
                       `pattern = future, if condition => handler`";
        return at(place, message);
    }
    let is_bare_if = |place: usize| {
        is_ident(&tokens[place], "if") && !is_punct(&tokens[place - 1], ',') && place > equals + 1
    };
    let is_else_if = |place: usize| is_ident(&tokens[place - 1], "else");
    if let Some(place) = (equals + 1..end).find(|&place| is_bare_if(place) && !is_else_if(place)) {
        let message = "no comma before this `if`; write \
                       `pattern = future, if condition => handler`";
        return at(place, message);
    }
    if end == tokens.len() {
        return ((0, last), format!("no `=>` in this branch; write {FORM}"));
    }
    if end == equals + 1 {
        return ((0, end + 1), format!("no future after `=`; write {FORM}"));
    }
    if let Some(place) = (equals + 1..end).find(|&place| is_punct(&tokens[place], ',')) {
        if !is_ident(&tokens[place + 1], "if") {
            return ((0, place), format!("no `=>` in this branch; write {FORM}"));
        }
    }
    match tokens.get(end + 2) {
        None => ((0, last), format!("no handler after `=>`; write {FORM}")),
        Some(next) if is_punct(next, ',') => {
            ((0, end + 1), format!("no handler after `=>`; write {FORM}"))
        }
        // The handler ends somewhere before the next `=`.
        Some(_) => {
            let message = "no comma after this handler; write one, or put the handler in braces";
            let next = (end + 2..tokens.len()).find(|&place| is_equals(tokens, place));
            let last = next.map_or(last, |equals| equals.saturating_sub(2).max(end + 2));
            ((end + 2, last), message.to_owned())
        }
    }
}

/// Returns where the next `=>` begins.
fn arrow(tokens: &[TokenTree], from: usize) -> Option<usize> {
    (from..tokens.len().saturating_sub(1)).find(|&place| {
        is_punct(&tokens[place], '=')
            && !is_equals(tokens, place)
            && is_punct(&tokens[place + 1], '>')
    })
}

/// Returns whether there is a `=` that is not a part of `==`, `=>`, `<=` and the like.
fn is_equals(tokens: &[TokenTree], place: usize) -> bool {
    let is_joint = |place: usize| matches!(&tokens[place], TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint);
    let is_alone = |place: usize| !is_joint(place) || place + 1 == tokens.len();
    is_punct(&tokens[place], '=') && is_alone(place) && (place == 0 || !is_joint(place - 1))
}

/// Returns the first token after the handler that begins at `from` and its comma.
fn after_handler(tokens: &[TokenTree], from: usize) -> Option<usize> {
    let comma = (from..tokens.len()).find(|&place| is_punct(&tokens[place], ','));
    let next = match group(&tokens[from], Delimiter::Brace) {
        Some(_) if comma != Some(from + 1) => from + 1,
        _ => comma? + 1,
    };
    (next < tokens.len()).then_some(next)
}

/// Returns an error at the code between two tokens.
fn compile_error(first: Span, last: Span, message: &str) -> TokenStream {
    let path = quote_spanned!(first=> ::core::compile_error!);
    let message = quote_spanned!(last=> #message);
    let mut body = Group::new(Delimiter::Brace, message);
    body.set_span(last);
    let mut tokens = path;
    tokens.extend(body.into_token_stream());
    tokens
}
