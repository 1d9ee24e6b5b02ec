//! The function below an attribute.
//!
//! Parses only the parts that the attributes change or check, and keeps the rest unchanged. The
//! crate `syn` could parse all of it, but takes longer to compile than any layer of Raddle.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::quote;

use crate::error::{Error, Result};
use crate::tokens::{group, is_arrow, is_ident, is_punct, visible};

pub(crate) struct Function {
    /// Everything before the body, without `async` and `const`.
    head: Vec<TokenTree>,
    /// Where in the head `fn` is.
    fn_at: usize,
    /// Where in the head the parameters are.
    inputs_at: usize,
    pub(crate) is_async: bool,
    /// The position of `const`.
    const_span: Option<Span>,
    /// The position of `fn`.
    pub(crate) fn_span: Span,
    pub(crate) name: Ident,
    /// The parameters in their parentheses.
    pub(crate) inputs: Group,
    /// The attributes `#![...]` in the body.
    inner_attributes: TokenStream,
    /// The body in its braces, without these attributes.
    pub(crate) body: Group,
}

impl Function {
    pub(crate) fn parse(item: TokenStream) -> Result<Self> {
        let mut head: Vec<TokenTree> = item.into_iter().collect();
        // A `macro_rules!` macro passes an item on as one invisible group.
        if let [TokenTree::Group(group)] = &head[..] {
            if group.delimiter() == Delimiter::None {
                head = group.stream().into_iter().collect();
            }
        }
        let start = head.first().map_or_else(Span::call_site, TokenTree::span);
        let expected = |span| Error::new(span, "expected a function with a body");

        let body = head.pop().map(visible);
        let body = body
            .as_ref()
            .and_then(|body| group(body, Delimiter::Brace))
            .ok_or_else(|| expected(start))?;
        let mut fn_at = head
            .iter()
            .position(|token| is_ident(token, "fn"))
            .ok_or_else(|| expected(start))?;
        let fn_span = head[fn_at].span();
        let Some(TokenTree::Ident(name)) = head.get(fn_at + 1) else {
            return Err(expected(fn_span));
        };
        let name = name.clone();
        let (inputs_at, inputs) =
            parameters(&head[fn_at + 2..]).ok_or_else(|| expected(fn_span))?;
        let (mut inputs_at, inputs) = (fn_at + 2 + inputs_at, inputs.clone());
        let mut remove = |word| {
            let place = head[..fn_at]
                .iter()
                .position(|token| is_ident(token, word))?;
            fn_at -= 1;
            inputs_at -= 1;
            Some(head.remove(place).span())
        };
        let is_async = remove("async").is_some();
        let const_span = remove("const");
        let (inner_attributes, body) = without_inner_attributes(body);
        Ok(Self {
            head,
            fn_at,
            inputs_at,
            is_async,
            const_span,
            fn_span,
            name,
            inputs,
            inner_attributes,
            body,
        })
    }

    /// Returns an error if the function is `const`.
    pub(crate) fn check_not_const(&self) -> Result<()> {
        let message = "the function cannot be `const`; leave `const` out";
        match self.const_span {
            Some(span) => Err(Error::new(span, message)),
            None => Ok(()),
        }
    }

    /// Returns an error if the function has parameters, and removes them, with the body that uses
    /// them.
    pub(crate) fn refuse_inputs(&mut self, message: &str) -> Result<()> {
        if self.inputs.stream().is_empty() {
            return Ok(());
        }
        let none = Group::new(Delimiter::Parenthesis, TokenStream::new());
        self.head[self.inputs_at] = none.into();
        self.body = Group::new(Delimiter::Brace, quote!(loop {}));
        Err(Error::new(self.inputs.span(), message))
    }

    /// Returns the position of the attribute `#[name]`, if the function has it.
    pub(crate) fn attribute(&self, name: &str) -> Option<Span> {
        self.head.windows(2).find_map(|pair| {
            let attribute = group(&pair[1], Delimiter::Bracket)?;
            let path = attribute.stream().into_iter().next().map(visible)?;
            let is_only = attribute.stream().into_iter().nth(1).is_none();
            (is_punct(&pair[0], '#') && is_only && is_ident(&path, name)).then(|| pair[0].span())
        })
    }

    /// Returns the position of the last statement of the body.
    pub(crate) fn last_statement(&self) -> Option<Span> {
        let tokens: Vec<_> = self.body.stream().into_iter().collect();
        let (_, before) = tokens.split_last()?;
        let semicolon = before.iter().rposition(|token| is_punct(token, ';'));
        Some(tokens[semicolon.map_or(0, |at| at + 1)].span())
    }

    /// Returns the position of the function's result, unless that is `()`.
    pub(crate) fn result(&self) -> Option<Span> {
        let result = &self.head[self.inputs_at + 1..];
        let is_unit = match result {
            [dash, greater, unit] => {
                let unit = visible(unit.clone());
                let unit = group(&unit, Delimiter::Parenthesis);
                is_punct(dash, '-')
                    && is_punct(greater, '>')
                    && unit.is_some_and(|unit| unit.stream().is_empty())
            }
            _ => false,
        };
        result.first().filter(|_| !is_unit).map(TokenTree::span)
    }

    /// Returns the function without `async`, with these statements as its body.
    pub(crate) fn with_body(&self, statements: &TokenStream) -> TokenStream {
        let head = &self.head;
        let body = self.body_of(statements);
        quote!(#(#head)* #body)
    }

    /// Returns a function of the same name and attributes, without parameters and result, that
    /// contains this one before these statements.
    pub(crate) fn with_own_inside(&self, statements: &TokenStream) -> TokenStream {
        let (head, signature) = (&self.head[..self.inputs_at], &self.head[self.fn_at..]);
        let own = self.body_of(&self.body.stream());
        quote! {
            #(#head)* () {
                #(#signature)* #own
                #statements
            }
        }
    }

    /// Returns a body with these statements, after the attributes of the function's own.
    fn body_of(&self, statements: &TokenStream) -> Group {
        let attributes = &self.inner_attributes;
        let mut body = Group::new(Delimiter::Brace, quote!(#attributes #statements));
        body.set_span(self.body.span());
        body
    }
}

/// Returns the first parentheses that are not between `<` and `>`, and where they are.
fn parameters(tokens: &[TokenTree]) -> Option<(usize, &Group)> {
    let mut depth = 0;
    for (n, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => depth += 1,
            TokenTree::Punct(_) if is_punct(token, '>') && !is_arrow(&tokens[..n]) => depth -= 1,
            _ if depth == 0 => {
                if let Some(group) = group(token, Delimiter::Parenthesis) {
                    return Some((n, group));
                }
            }
            _ => {}
        }
    }
    None
}

/// Splits a body into the attributes `#![...]` at its start and the rest.
fn without_inner_attributes(body: &Group) -> (TokenStream, Group) {
    let tokens: Vec<_> = body.stream().into_iter().collect();
    let attributes = tokens
        .chunks_exact(3)
        .take_while(|chunk| {
            is_punct(&chunk[0], '#')
                && is_punct(&chunk[1], '!')
                && group(&chunk[2], Delimiter::Bracket).is_some()
        })
        .count();
    let (attributes, statements) = tokens.split_at(attributes * 3);
    let mut rest = Group::new(body.delimiter(), statements.iter().cloned().collect());
    rest.set_span(body.span());
    (attributes.iter().cloned().collect(), rest)
}
