//! The changes that are made of a source file:
//!
//! - a condition of an `if` or of a match arm never holds, or always; a loop is
//!   not entered. With the branch its early return is gone;
//! - a statement is dropped: a call, an assignment, a `return`, `break` or
//!   `continue`;
//! - an integer becomes one larger, except in a constant that places a bit;
//! - an operator becomes another: see [`others`];
//! - an arm of a match with a `_` is deleted;
//! - the body of a function becomes a constant: see [`values`].
//!
//! Which operators and constants stand in for which is as in cargo-mutants, whose
//! wording the list of argued mutants uses too.

use std::ops::Range;

use anyhow::Result;
use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use super::{quoted, values};
use crate::mutate::mutants::Change;
use crate::mutate::mutants::one_line;
use crate::mutate::schema::Schema;

/// Every such change of a file.
pub(super) fn changes(text: &str) -> Result<Vec<Change>> {
    let file = syn::parse_file(text)?;
    let mut finder = Finder {
        text,
        changes: Vec::new(),
        body: 0..0,
        owner: String::new(),
        is_constant: false,
    };
    finder.visit_file(&file);
    Ok(finder.changes)
}

struct Finder<'a> {
    text: &'a str,
    changes: Vec<Change>,
    /// Where the body of the innermost function stands.
    body: Range<usize>,
    /// The type that has it, with `::`: `Sleep::`, `<impl Drop for Sleep>::`.
    owner: String,
    /// Whether the place is a constant or a pattern, which takes no switch.
    is_constant: bool,
}

impl Finder<'_> {
    fn source(&self, of: &impl syn::spanned::Spanned) -> String {
        self.text[of.span().byte_range()].to_owned()
    }

    /// A change of what is at `span`.
    fn push(&mut self, words: String, span: Span, replacement: String, schema: Schema) {
        let schema = (!self.is_constant).then(|| schema.within(self.body.clone()));
        self.changes.push(Change {
            words,
            line: span.start().line - 1,
            range: span.byte_range(),
            replacement,
            schema,
        });
    }

    /// The same, whose line belongs to the words.
    fn push_in_line(&mut self, words: &str, span: Span, replacement: String, schema: Schema) {
        let line = self.text.lines().nth(span.start().line - 1);
        let words = format!("{words} in {}", quoted(line.unwrap_or_default()));
        self.push(words, span, replacement, schema);
    }

    /// A condition that is replaced by a constant.
    fn condition(&mut self, condition: &syn::Expr, constants: &[bool]) {
        // `cfg!` tells a model or a system from another.
        if matches!(condition, syn::Expr::Macro(_)) {
            return;
        }
        let span = condition.span();
        let source = self.source(condition);
        // The names of a pattern are used in the branch.
        let has_pattern = has_pattern(condition);
        for constant in constants {
            let (word, replacement, schema) = match (constant, has_pattern) {
                (true, true) => continue,
                (true, false) => (
                    "always",
                    "true".to_owned(),
                    Schema::always(span.byte_range()),
                ),
                (false, _) => {
                    let replacement = match has_pattern {
                        true => format!("false && {source}"),
                        false => "false".to_owned(),
                    };
                    (
                        "never",
                        replacement,
                        Schema::never(span.byte_range(), has_pattern),
                    )
                }
            };
            let words = format!("{} {word} holds", quoted(&source));
            self.push(words, span, replacement, schema);
        }
    }

    fn statements(&mut self, block: &syn::Block) {
        // Without its only statement a body is empty, as with a constant instead.
        if block.span().byte_range() == self.body && block.stmts.len() == 1 {
            return;
        }
        for statement in &block.stmts {
            if is_droppable(statement) {
                let span = statement.span();
                let words = format!("{} dropped", quoted(&self.source(statement)));
                let schema = Schema::dropped(span.byte_range(), is_relied_on(statement));
                self.push(words, span, String::new(), schema);
            }
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        self.body = block.span().byte_range();
        // `Default::default` would call itself.
        if block.stmts.iter().all(is_discarded) || self.owner.starts_with("<impl Default for") {
            return;
        }
        let output = match &signature.output {
            syn::ReturnType::Type(..) => format!(" {}", one_line(&self.source(&signature.output))),
            syn::ReturnType::Default => String::new(),
        };
        for value in values::of(&signature.output) {
            if one_line(&self.source(block)) == format!("{{ {value} }}") {
                continue;
            }
            let name = format!("{}{}{output}", self.owner, signature.ident);
            let words = quoted(&format!("replace {name} with {value}"));
            let schema = Schema::returned(self.body.start + 1, &value);
            self.push(words, block.span(), format!("{{ {value} }}"), schema);
        }
    }

    fn within<T>(&mut self, constant: bool, visit: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.is_constant, constant);
        let result = visit(self);
        self.is_constant = before;
        result
    }
}

/// What stands in for an operator.
fn others(operator: &syn::BinOp) -> &'static [&'static str] {
    use syn::BinOp;
    match operator {
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::Lt(_) => &["==", ">", "<="],
        BinOp::Gt(_) => &["==", "<", ">="],
        BinOp::Le(_) => &[">"],
        BinOp::Ge(_) => &["<"],
        BinOp::Add(_) => &["-", "*"],
        BinOp::Sub(_) => &["+", "/"],
        BinOp::Mul(_) => &["+", "/"],
        BinOp::Div(_) => &["%", "*"],
        BinOp::Rem(_) => &["/", "+"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        BinOp::BitAnd(_) => &["|", "^"],
        // Bits are set where they are clear, and there `^` is `|`.
        BinOp::BitOr(_) => &["&"],
        BinOp::BitXor(_) => &["|", "&"],
        BinOp::AddAssign(_) => &["-=", "*="],
        BinOp::SubAssign(_) => &["+=", "/="],
        BinOp::MulAssign(_) => &["+=", "/="],
        BinOp::DivAssign(_) => &["%=", "*="],
        BinOp::RemAssign(_) => &["/=", "+="],
        BinOp::ShlAssign(_) => &[">>="],
        BinOp::ShrAssign(_) => &["<<="],
        BinOp::BitAndAssign(_) => &["|="],
        BinOp::BitOrAssign(_) => &["&="],
        BinOp::BitXorAssign(_) => &["|=", "&="],
        _ => &[],
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

/// Whether a statement only names values that are not used: `let _ = (a, b);`.
fn is_discarded(statement: &syn::Stmt) -> bool {
    fn is_named(value: &syn::Expr) -> bool {
        match value {
            syn::Expr::Path(_) => true,
            syn::Expr::Tuple(tuple) => tuple.elems.iter().all(is_named),
            _ => false,
        }
    }
    let syn::Stmt::Local(local) = statement else {
        return false;
    };
    let init = local.init.as_ref();
    matches!(local.pat, syn::Pat::Wild(_)) && init.is_some_and(|init| is_named(&init.expr))
}

fn is_droppable(statement: &syn::Stmt) -> bool {
    match statement {
        syn::Stmt::Expr(expression, Some(_)) => has_effect(expression),
        syn::Stmt::Local(local) => matches!(local.pat, syn::Pat::Wild(_)),
        _ => false,
    }
}

/// Whether what follows a statement does not compile everywhere without it.
fn is_relied_on(statement: &syn::Stmt) -> bool {
    use syn::Expr;
    let syn::Stmt::Expr(expression, _) = statement else {
        return false;
    };
    matches!(
        expression,
        Expr::Assign(_) | Expr::Break(_) | Expr::Continue(_) | Expr::Return(_)
    )
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
        let of = one_line(&self.source(&item.self_ty));
        self.owner = match &item.trait_ {
            Some((_, path, _)) => {
                if path
                    .segments
                    .last()
                    .is_some_and(|name| name.ident == "Debug")
                {
                    return;
                }
                format!("<impl {} for {of}>::", self.source(path))
            }
            None => format!("{of}::"),
        };
        if !is_apart(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
        self.owner.clear();
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.owner = format!("{}::", item.ident);
        visit::visit_item_trait(self, item);
        self.owner.clear();
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_apart(&item.attrs) {
            let body = self.body.clone();
            self.function(&item.sig, &item.block);
            visit::visit_item_fn(self, item);
            self.body = body;
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_apart(&item.attrs) {
            self.function(&item.sig, &item.block);
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
            visit::visit_trait_item_fn(self, item);
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.statements(block);
        visit::visit_block(self, block);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        if !places_bit(&item.expr) {
            self.within(true, |finder| visit::visit_item_const(finder, item));
        }
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        if !places_bit(&item.expr) {
            self.within(true, |finder| visit::visit_impl_item_const(finder, item));
        }
    }

    fn visit_trait_item_const(&mut self, item: &'ast syn::TraitItemConst) {
        self.within(true, |finder| visit::visit_trait_item_const(finder, item));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.within(true, |finder| visit::visit_item_static(finder, item));
    }

    fn visit_expr_const(&mut self, block: &'ast syn::ExprConst) {
        self.within(true, |finder| visit::visit_expr_const(finder, block));
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.within(true, |finder| visit::visit_variant(finder, variant));
    }

    fn visit_type(&mut self, of: &'ast syn::Type) {
        self.within(true, |finder| visit::visit_type(finder, of));
    }

    fn visit_generic_argument(&mut self, argument: &'ast syn::GenericArgument) {
        self.within(true, |finder| {
            visit::visit_generic_argument(finder, argument)
        });
    }

    fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
        self.within(true, |finder| visit::visit_pat(finder, pattern));
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_expr_repeat(&mut self, array: &'ast syn::ExprRepeat) {
        self.visit_expr(&array.expr);
        self.within(true, |finder| finder.visit_expr(&array.len));
    }

    fn visit_expr_if(&mut self, expression: &'ast syn::ExprIf) {
        self.condition(&expression.cond, &[false, true]);
        visit::visit_expr_if(self, expression);
    }

    fn visit_expr_while(&mut self, expression: &'ast syn::ExprWhile) {
        self.condition(&expression.cond, &[false]);
        visit::visit_expr_while(self, expression);
    }

    fn visit_expr_match(&mut self, expression: &'ast syn::ExprMatch) {
        let is_rest = |arm: &syn::Arm| matches!(arm.pat, syn::Pat::Wild(_)) && arm.guard.is_none();
        let has_rest = expression.arms.iter().any(is_rest);
        for arm in &expression.arms {
            if let Some((_, guard)) = &arm.guard
                && !has_pattern(guard)
            {
                let span = guard.span();
                let source = one_line(&self.source(&**guard));
                for (value, schema) in [
                    ("true", Schema::always(span.byte_range())),
                    ("false", Schema::never(span.byte_range(), false)),
                ] {
                    let words = format!("`replace match guard {source} with {value}`");
                    self.push_in_line(&words, span, value.to_owned(), schema);
                }
            } else if has_rest && !is_rest(arm) && arm.guard.is_none() {
                let words = format!("`delete match arm {}`", one_line(&self.source(&arm.pat)));
                let schema = Schema::unmatched(arm.pat.span().byte_range().end);
                self.push_in_line(&words, arm.span(), String::new(), schema);
            }
        }
        visit::visit_expr_match(self, expression);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let operator = binary.op.span().byte_range();
        let whole = binary.span().byte_range();
        if !has_pattern(&binary.left) && !has_pattern(&binary.right) {
            for other in others(&binary.op) {
                let words = format!("`replace {} with {other}`", self.source(&binary.op));
                let left = &self.text[whole.start..operator.start];
                let right = &self.text[operator.end..whole.end];
                let schema = Schema::other(whole.clone(), &format!("{left}{other}{right}"));
                self.push_in_line(&words, binary.op.span(), (*other).to_owned(), schema);
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        if matches!(unary.op, syn::UnOp::Not(_) | syn::UnOp::Neg(_)) {
            let words = format!("`delete {}`", self.source(&unary.op));
            let schema = Schema::other(unary.span().byte_range(), &self.source(&*unary.expr));
            self.push_in_line(&words, unary.op.span(), String::new(), schema);
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_lit_int(&mut self, literal: &'ast syn::LitInt) {
        let Ok(value) = literal.base10_parse::<u64>() else {
            return;
        };
        let more = format!("{}{}", value + 1, literal.suffix());
        let schema = Schema::other(literal.span().byte_range(), &more);
        let words = format!("`{literal}` to {more}");
        self.push_in_line(&words, literal.span(), more, schema);
    }
}

#[cfg(test)]
mod tests;
