//! What is wrong with input that the `macro_rules!` of `select!`, `join!` and `try_join!` cannot
//! read.

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote_spanned};

use crate::branches::ends;
use crate::tokens::{group, is_ident, is_punct};

const FORM: &str = "`pattern = future => handler`";
const SEMICOLON: &str = "only a comma may end a branch; leave this semicolon out";
const CONDITION_FORM: &str = "`pattern = future, if condition => handler`";

/// The first and the last token to point at, and the message.
type Mistake = ((usize, usize), String);

fn at(place: usize, message: impl Into<String>) -> Mistake {
    ((place, place), message.into())
}

/// Reads the rest of the input, from the first branch that does not have the form of one.
///
/// The first token is a group: empty, or with the part of the branch before its `=>`, which could
/// be read. The handler of that branch then follows.
pub(crate) fn select(rest: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = rest.into_iter().collect();
    let branch = match tokens.remove(0) {
        TokenTree::Group(group) => group.stream(),
        other => unreachable!("the facade writes a group, not `{other}`"),
    };
    let (first, last, message) = match ends(branch) {
        Some((first, last)) => match handler_mistake(&tokens) {
            Some(mistake) => located(&tokens, mistake),
            None => (first, last, format!("no handler after `=>`; write {FORM}")),
        },
        None => located(&tokens, branch_mistake(&tokens)),
    };
    compile_error(first, last, &message)
}

/// Reads the rest of the input of this macro, from the first future that no comma follows.
pub(crate) fn join(rest: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = rest.into_iter().collect();
    let name = match tokens.remove(0) {
        TokenTree::Ident(name) => name,
        other => unreachable!("the facade writes a name, not `{other}`"),
    };
    let (first, last, message) = located(&tokens, join_mistake(&tokens, &format!("{name}!")));
    compile_error(first, last, &message)
}

/// Returns the positions of the tokens to point at.
fn located(tokens: &[TokenTree], ((first, last), message): Mistake) -> (Span, Span, String) {
    (tokens[first].span(), tokens[last].span(), message)
}

fn join_mistake(tokens: &[TokenTree], name: &str) -> Mistake {
    let form = format!("`{name}(future, future)`");
    if is_punct(&tokens[0], ',') {
        let message = "a future is missing before this comma; leave the comma out";
        return at(0, message);
    }
    if let Some(mistake) = order_mistake(tokens) {
        return mistake;
    }
    if is_ident(&tokens[0], "biased") && !matches!(tokens.get(1), Some(TokenTree::Punct(_))) {
        return at(0, "write `biased;`, with a semicolon");
    }
    for (place, token) in tokens.iter().enumerate() {
        if is_punct(token, ';') {
            let message = format!("a comma separates futures, not a semicolon; write {form}");
            return at(place, message);
        }
        if is_ident(token, "let") || is_arrow_at(tokens, place) {
            let message = format!("`{name}` has no patterns and handlers; write {form}");
            return at(place, message);
        }
    }
    // A comma before the end of the future would be one of its generic arguments.
    let comma = (0..tokens.len()).find(|&place| is_punct(&tokens[place], ','));
    let last = comma.unwrap_or(tokens.len()) - 1;
    let message = format!("no comma between the futures; write {form}");
    ((0, last), message)
}

/// Returns what is wrong with a word that a semicolon follows, like that of `biased;`.
fn order_mistake(tokens: &[TokenTree]) -> Option<Mistake> {
    let TokenTree::Ident(word) = &tokens[0] else {
        return None;
    };
    if !is_punct(tokens.get(1)?, ';') {
        return None;
    }
    let message = match word == "biased" {
        true => "`biased;` stands once, and before all branches".to_owned(),
        false => format!("no such order as `{word};`; write `biased;` or leave it out"),
    };
    Some(((0, 1), message))
}

fn branch_mistake(tokens: &[TokenTree]) -> Mistake {
    if is_punct(&tokens[0], ',') {
        let message = "a branch is missing before this comma; leave the comma out";
        return at(0, message);
    }
    if is_punct(&tokens[0], ';') {
        return at(0, SEMICOLON);
    }
    if is_ident(&tokens[0], "else") {
        return else_mistake(tokens);
    }
    if let Some(mistake) = order_mistake(tokens) {
        return mistake;
    }
    let is_pattern = tokens.get(1).is_some_and(|next| is_punct(next, '='));
    if is_ident(&tokens[0], "biased") && !is_pattern {
        return at(0, "write `biased;`, with a semicolon");
    }
    let end = (0..tokens.len()).find(|&place| is_arrow_at(tokens, place));
    let end = end.unwrap_or(tokens.len());
    match (0..end).find(|&place| is_equals(tokens, place)) {
        Some(equals) => {
            pattern_mistake(tokens, equals).unwrap_or_else(|| future_mistake(tokens, equals, end))
        }
        None => {
            let last = end.saturating_sub(1);
            // The `macro_rules!` write this word themselves, without its position.
            let first = usize::from(is_ident(&tokens[0], "async")).min(last);
            let message = format!("no `=` in this branch; write {FORM}");
            ((first, last), message)
        }
    }
}

/// Returns what is wrong before the `=` of a branch.
fn pattern_mistake(tokens: &[TokenTree], equals: usize) -> Option<Mistake> {
    if let Some(place) = (0..equals).find(|&place| is_ident(&tokens[place], "if")) {
        let message = format!("a condition stands after the future; write {CONDITION_FORM}");
        return Some(at(place, message));
    }
    if equals == 0 {
        return Some(at(0, format!("no pattern before `=`; write {FORM}")));
    }
    let comma = (0..equals).find(|&place| is_punct(&tokens[place], ','))?;
    let message = format!(
        "no `=` before this comma; write {FORM}, and a pattern of several values in parentheses"
    );
    Some(at(comma, message))
}

/// Returns what is wrong after the `=` of a branch; `end` is the place of its `=>`, or else the
/// number of tokens.
fn future_mistake(tokens: &[TokenTree], equals: usize, end: usize) -> Mistake {
    let start = equals + 1;
    let find = |sign| (start..end).find(|&place| is_punct(&tokens[place], sign));
    let is_bare_if = |place: usize| {
        let before = &tokens[place - 1];
        let follows = is_punct(before, ',') || is_ident(before, "else");
        is_ident(&tokens[place], "if") && !follows
    };
    if let Some(place) = (start + 1..end).find(|&place| is_bare_if(place)) {
        let message = format!("no comma before this `if`; write {CONDITION_FORM}");
        return at(place, message);
    }
    if let Some(place) = find(';') {
        return at(place, format!("a semicolon in a branch; write {FORM}"));
    }
    if end == tokens.len() {
        let message = format!("no `=>` in this branch; write {FORM}");
        return ((0, end - 1), message);
    }
    if end == start {
        return ((0, end + 1), format!("no future after `=`; write {FORM}"));
    }
    let Some(comma) = find(',') else {
        let message = format!("not one pattern and one future; write {FORM}");
        return ((0, end - 1), message);
    };
    if !is_ident(&tokens[comma + 1], "if") {
        return ((0, comma), format!("no `=>` in this branch; write {FORM}"));
    }
    if comma + 2 == end {
        let message = format!("no condition after `if`; write {CONDITION_FORM}");
        return at(comma + 1, message);
    }
    if let Some(place) = (comma..end).find(|&place| is_ident(&tokens[place], "let")) {
        let message = "a condition has no `let`; write `if matches!(value, pattern)`";
        return at(place, message);
    }
    let message = format!("not one condition; write {CONDITION_FORM}");
    ((comma + 1, end - 1), message)
}

fn else_mistake(tokens: &[TokenTree]) -> Mistake {
    let last = tokens.len() - 1;
    let form = "write `else => handler`";
    if !(last > 0 && is_arrow_at(tokens, 1)) {
        return at(1.min(last), format!("no `=>` after `else`; {form}"));
    }
    if last < 3 || is_punct(&tokens[3], ',') {
        return at(last.min(3), format!("no handler after `=>`; {form}"));
    }
    let first = after_handler(tokens, 3).unwrap_or(last);
    if is_punct(&tokens[first], ';') {
        return at(first, SEMICOLON);
    }
    let message = "nothing follows the `else` branch; move it to the end";
    ((first, last), message.to_owned())
}

/// Returns what is wrong with the handler at the start of `tokens`, if there is one.
fn handler_mistake(tokens: &[TokenTree]) -> Option<Mistake> {
    let first = tokens.first()?;
    if is_punct(first, ',') || is_punct(first, ';') {
        return None;
    }
    if is_ident(first, "let") {
        let message = "a handler is an expression; put its statements in braces";
        return Some(at(0, message));
    }
    let last = tokens.len() - 1;
    let next = (0..=last).find(|&place| {
        is_arrow_at(tokens, place) || is_equals(tokens, place) || is_punct(&tokens[place], ';')
    });
    let message = "no comma after this handler; write one, or put the handler in braces";
    Some(match next {
        Some(place) if is_punct(&tokens[place], ';') => {
            at(place, "write a comma after the handler, not a semicolon")
        }
        Some(place) if is_arrow_at(tokens, place) => match place.checked_sub(1) {
            // The branch `else` follows.
            Some(before) if before > 0 && is_ident(&tokens[before], "else") => {
                ((0, before - 1), message.to_owned())
            }
            _ => {
                let message = "a second `=>` in this branch; leave it out, or end the handler \
                               before it by a comma";
                ((place, place + 1), message.to_owned())
            }
        },
        // The handler ends somewhere before the next `=`.
        Some(equals) => ((0, equals.saturating_sub(2)), message.to_owned()),
        None => ((0, last), message.to_owned()),
    })
}

/// Returns whether a `=>` begins at `place`.
fn is_arrow_at(tokens: &[TokenTree], place: usize) -> bool {
    is_punct(&tokens[place], '=')
        && !is_equals(tokens, place)
        && tokens
            .get(place + 1)
            .is_some_and(|next| is_punct(next, '>'))
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
