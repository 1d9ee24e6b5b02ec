//! Reading token trees.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Opens the invisible groups around a token that comes from a `macro_rules!` variable.
pub(crate) fn visible(mut token: TokenTree) -> TokenTree {
    while let Some(group) = group(&token, Delimiter::None) {
        let mut inner = group.stream().into_iter();
        match (inner.next(), inner.next()) {
            (Some(only), None) => token = only,
            _ => break,
        }
    }
    token
}

pub(crate) fn is_ident(token: &TokenTree, name: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == name)
}

pub(crate) fn is_punct(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// Returns the group if `token` is one with this delimiter.
pub(crate) fn group(token: &TokenTree, delimiter: Delimiter) -> Option<&Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

/// Returns the contents of the groups that `tokens` consists of.
///
/// The input comes from a `macro_rules!` macro of the facade, which generates only groups.
pub(crate) fn contents(tokens: TokenStream) -> Vec<TokenStream> {
    let content = |token| match token {
        TokenTree::Group(group) => group.stream(),
        other => unreachable!("the facade writes groups, not `{other}`"),
    };
    tokens.into_iter().map(content).collect()
}

/// Splits `tokens` at each `sign`. Leaves out an empty last part.
pub(crate) fn split(tokens: TokenStream, sign: char) -> Vec<Vec<TokenTree>> {
    let mut parts = vec![Vec::new()];
    for token in tokens {
        match is_punct(&token, sign) {
            true => parts.push(Vec::new()),
            false => parts.last_mut().expect("never empty").push(token),
        }
    }
    if parts.last().is_some_and(Vec::is_empty) {
        parts.pop();
    }
    parts
}

/// Returns whether `text` is one identifier or keyword.
pub(crate) fn is_name(text: &str) -> bool {
    let tokens: Result<TokenStream, _> = text.parse();
    let mut tokens = tokens.into_iter().flatten();
    matches!(tokens.next(), Some(TokenTree::Ident(_))) && tokens.next().is_none()
}

/// Returns whether a `>` after `before` is the end of an arrow.
pub(crate) fn is_arrow(before: &[TokenTree]) -> bool {
    before.last().is_some_and(|token| is_punct(token, '-'))
}
