//! The mutants that cargo-mutants lacks:
//!
//! - a condition of an `if` never holds, or always; a loop is not entered. With
//!   the branch its early return is gone;
//! - a statement is dropped: a call, an assignment, a `return`, `break` or
//!   `continue`;
//! - an integer becomes one larger, except in a constant that places a bit.

use std::ops::Range;

use anyhow::Result;
use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use super::quoted;
use crate::mutate::mutants::Change;

/// Every such change of a file.
pub(super) fn changes(text: &str) -> Result<Vec<Change>> {
    let file = syn::parse_file(text)?;
    let mut finder = Finder {
        text,
        changes: Vec::new(),
        body: 0..0,
    };
    finder.visit_file(&file);
    Ok(finder.changes)
}

struct Finder<'a> {
    text: &'a str,
    changes: Vec<Change>,
    /// Where the body of the innermost function stands.
    body: Range<usize>,
}

impl Finder<'_> {
    fn source(&self, range: &Range<usize>) -> &str {
        &self.text[range.clone()]
    }

    fn push(&mut self, words: String, span: Span, replacement: String) {
        self.changes.push(Change {
            words,
            line: span.start().line - 1,
            range: span.byte_range(),
            replacement,
        });
    }

    /// A condition that is replaced by a constant.
    fn condition(&mut self, condition: &syn::Expr, constants: &[bool]) {
        // `cfg!` tells a model or a system from another.
        if matches!(condition, syn::Expr::Macro(_)) {
            return;
        }
        let span = condition.span();
        let source = self.source(&span.byte_range()).to_owned();
        // The names of a pattern are used in the branch.
        let has_pattern = has_pattern(condition);
        for constant in constants {
            let (word, replacement) = match (constant, has_pattern) {
                (true, true) => continue,
                (true, false) => ("always", "true".to_owned()),
                (false, false) => ("never", "false".to_owned()),
                (false, true) => ("never", format!("false && {source}")),
            };
            let words = format!("{} {word} holds", quoted(&source));
            self.push(words, span, replacement);
        }
    }

    fn statements(&mut self, block: &syn::Block) {
        // Without its only statement a body is empty, which cargo-mutants does.
        if block.span().byte_range() == self.body && block.stmts.len() == 1 {
            return;
        }
        for statement in &block.stmts {
            if is_droppable(statement) {
                let span = statement.span();
                let source = self.source(&span.byte_range()).to_owned();
                self.push(format!("{} dropped", quoted(&source)), span, String::new());
            }
        }
    }
}

fn has_pattern(condition: &syn::Expr) -> bool {
    match condition {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => has_pattern(&binary.left) || has_pattern(&binary.right),
        _ => false,
    }
}

/// Whether a constant is a bit or a mask of a packed word: another place is as
/// good as long as the bits are apart, which unit tests check.
fn places_bit(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Binary(binary) => {
            matches!(binary.op, syn::BinOp::Shl(_))
                || places_bit(&binary.left)
                || places_bit(&binary.right)
        }
        syn::Expr::Cast(cast) => places_bit(&cast.expr),
        syn::Expr::Paren(paren) => places_bit(&paren.expr),
        syn::Expr::Unary(unary) => places_bit(&unary.expr),
        _ => false,
    }
}

fn is_droppable(statement: &syn::Stmt) -> bool {
    match statement {
        syn::Stmt::Expr(expression, Some(_)) => has_effect(expression),
        syn::Stmt::Local(local) => matches!(local.pat, syn::Pat::Wild(_)),
        _ => false,
    }
}

fn has_effect(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Assign(_)
        | syn::Expr::Break(_)
        | syn::Expr::Call(_)
        | syn::Expr::Continue(_)
        | syn::Expr::MethodCall(_)
        | syn::Expr::Return(_)
        | syn::Expr::Try(_)
        | syn::Expr::Unsafe(_) => true,
        // Of the others only `+=` and its like are statements.
        syn::Expr::Binary(_) => true,
        _ => false,
    }
}

/// Whether an item is only there in tests or models, or shows a value to people.
fn is_apart(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let syn::Meta::List(list) = &attribute.meta else {
            return attribute.path().is_ident("test");
        };
        let only = ["test", "raddle_loom"];
        list.path.is_ident("cfg") && only.contains(&list.tokens.to_string().as_str())
    })
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_apart(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = item
            .trait_
            .as_ref()
            .and_then(|(_, path, _)| path.segments.last());
        if !is_apart(&item.attrs) && name.is_none_or(|name| name.ident != "Debug") {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_apart(&item.attrs) {
            self.body = item.block.span().byte_range();
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_apart(&item.attrs) {
            self.body = item.block.span().byte_range();
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.statements(block);
        visit::visit_block(self, block);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        if !places_bit(&item.expr) {
            visit::visit_item_const(self, item);
        }
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        if !places_bit(&item.expr) {
            visit::visit_impl_item_const(self, item);
        }
    }

    fn visit_expr_if(&mut self, expression: &'ast syn::ExprIf) {
        self.condition(&expression.cond, &[false, true]);
        visit::visit_expr_if(self, expression);
    }

    fn visit_expr_while(&mut self, expression: &'ast syn::ExprWhile) {
        self.condition(&expression.cond, &[false]);
        visit::visit_expr_while(self, expression);
    }

    fn visit_lit_int(&mut self, literal: &'ast syn::LitInt) {
        let Ok(value) = literal.base10_parse::<u64>() else {
            return;
        };
        let line = literal.span().start().line - 1;
        let source = self.text.lines().nth(line).unwrap_or_default();
        let more = format!("{}{}", value + 1, literal.suffix());
        let words = format!("`{literal}` to {more} in {}", quoted(source));
        self.push(words, literal.span(), more);
    }
}

#[cfg(test)]
mod tests;
