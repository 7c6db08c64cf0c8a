//! Rewrites a text so that what can grow or recurse without end goes through functions that look first:
//!
//! ```text
//! a * b         →  __mul__(a , b)
//! a + b         →  a + __addend__((b))
//! a == b        →  a == __bounded__((b))
//! x *= y        →  x = __mul__(x, (y))
//! s.join(all)   →  __method__(0, s, all)
//! d[key]        →  d[__bounded__((key))]
//! f"{x}"        →  f"{__shown__(1, (x))}"
//! f(*all)       →  f(*__spread__((all)))
//! x in all      →  x in __paced__((all))
//! ```
//!
//! What a literal bounds stays as it is, so that most of a file does.

use std::collections::BTreeSet;
use std::ops::Range;

use starlark::syntax::AstModule;
use starlark_syntax::codemap::Spanned;
use starlark_syntax::syntax::ast::{
    Argument, AssignOp, AssignTarget, AstArgument, AstAssignTarget, AstExpr, AstLiteral, AstStmt, AstString, BinOp,
    Expr, Stmt,
};
use starlark_syntax::syntax::uniplate::Visit;

use super::edits::{Edits, Rewritten};
use super::methods::{KEYED, LONG, METHOD, RECEIVER, number};
use super::operators::{ADDEND, BOUNDED, MOD, MUL, PACED, SHL, SHOWN, SPREAD};
use super::regions::Regions;
use crate::literal::Problem;

/// Rewrites a text whose syntax tree this is.
///
/// # Errors
/// What can be neither bounded nor kept.
pub(crate) fn rewrite(text: &str, module: &AstModule) -> Result<Rewritten, Problem> {
    let regions = Regions::of(text);
    let mut rewriter = Rewriter::new(text, &regions);
    rewriter.statement(module.statement())?;
    if let Some(problem) = rewriter.problem {
        return Err(problem);
    }
    Ok(rewriter.edits.apply(text, 0..text.len()))
}

struct Rewriter<'a> {
    text: &'a str,
    regions: &'a Regions<'a>,
    edits: Edits,
    /// Names of methods that were looked at with their calls.
    taken: BTreeSet<u32>,
    /// What an expression holds that cannot be kept.
    problem: Option<Problem>,
}

impl<'a> Rewriter<'a> {
    fn new(text: &'a str, regions: &'a Regions<'a>) -> Self {
        Self { text, regions, edits: Edits::default(), taken: BTreeSet::new(), problem: None }
    }

    fn statement(&mut self, statement: &AstStmt) -> Result<(), Problem> {
        match &statement.node {
            Stmt::AssignModify(target, op, value) => return self.augmented(target, *op, value),
            Stmt::Assign(assign) => self.keys(&assign.lhs),
            Stmt::For(each) => self.keys(&each.var),
            _ => {}
        }
        let mut inner = Vec::new();
        statement.visit_children(|part| match part {
            Visit::Stmt(part) => inner.push(part),
            Visit::Expr(part) => self.expression(part),
        });
        inner.into_iter().try_for_each(|part| self.statement(part))
    }

    /// The keys in what is assigned to.
    fn keys(&mut self, target: &AstAssignTarget) {
        match &target.node {
            AssignTarget::Index(parts) => self.key(&parts.1),
            AssignTarget::Tuple(targets) => targets.iter().for_each(|target| self.keys(target)),
            AssignTarget::Dot(..) | AssignTarget::Identifier(_) => {}
        }
    }

    fn augmented(&mut self, target: &AstAssignTarget, op: AssignOp, value: &AstExpr) -> Result<(), Problem> {
        let (left, operator, right) = self.regions.of_operands(target.span, value.span);
        let function = match op {
            AssignOp::Multiply => MUL,
            AssignOp::Percent => MOD,
            AssignOp::LeftShift => SHL,
            _ => {
                self.keys(target);
                target.visit_expr(|part| self.expression(part));
                // The operator stays: it changes lists in place.
                if op == AssignOp::Add && !is_number(value) {
                    self.guard(right, ADDEND);
                }
                self.expression(value);
                return Ok(());
            }
        };
        let mut calls = false;
        target.visit_expr(|part| calls |= has_call(part));
        if calls {
            let message = format!("what `{}` changes holds a call: give its value a name first", op.to_string().trim());
            return Err(Problem::new(message, target.span));
        }
        let mut changed = Self::new(self.text, self.regions);
        changed.keys(target);
        target.visit_expr(|part| changed.expression(part));
        let changed = changed.edits.apply(self.text, left.clone()).text;
        self.edits.replace(left.start..operator.end, format!("{changed} = {function}({changed}, ("));
        self.edits.wrap(right, "", "))");
        self.expression(value);
        Ok(())
    }

    fn expression(&mut self, expr: &AstExpr) {
        match &expr.node {
            Expr::Op(left, op, right) => self.operation(left, *op, right),
            Expr::Call(callee, args) => self.call(callee, &args.args),
            Expr::Dot(receiver, name) => self.attribute(receiver, name, None),
            Expr::Index(parts) => self.key(&parts.1),
            Expr::Slice(sliced, ..) => self.guard(self.regions.of_span(sliced.span), PACED),
            Expr::Literal(AstLiteral::Float(number)) if !number.node.is_finite() => {
                let message = "the number is out of range; infinity is written float(\"inf\")";
                self.problem.get_or_insert_with(|| Problem::new(message, expr.span));
            }
            Expr::Dict(entries) => entries.iter().for_each(|(key, _)| self.key(key)),
            Expr::DictComprehension(entry, ..) => self.key(&entry.0),
            Expr::FString(text) => {
                let parts = &text.node.expressions;
                for part in parts {
                    self.shown(part, parts.len());
                }
            }
            _ => {}
        }
        expr.node.visit_expr(|part| self.expression(part));
    }

    /// Calls a function of one argument with what stands there.
    fn guard(&mut self, range: Range<usize>, function: &str) {
        // In `x in(y)` no blank stands before what is wrapped.
        let is_behind_word = self.text[..range.start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let blank = if is_behind_word { " " } else { "" };
        self.edits.wrap(range, format!("{blank}{function}(("), "))");
    }

    /// A value that is put into a text with so many places.
    fn shown(&mut self, value: &AstExpr, places: usize) {
        self.edits.wrap(self.regions.of_span(value.span), format!("{SHOWN}({places}, ("), "))");
    }

    fn key(&mut self, key: &AstExpr) {
        if !is_bounded(key) {
            self.guard(self.regions.of_span(key.span), BOUNDED);
        }
    }

    fn operation(&mut self, left: &AstExpr, op: BinOp, right: &AstExpr) {
        let (first, operator, second) = self.regions.of_operands(left.span, right.span);
        let has_number = is_number(left) || is_number(right);
        match op {
            BinOp::Add if !has_number => self.guard(second, ADDEND),
            BinOp::Multiply => self.function(MUL, first, operator, second),
            BinOp::Percent if !has_number => self.function(MOD, first, operator, second),
            BinOp::LeftShift => self.function(SHL, first, operator, second),
            BinOp::In | BinOp::NotIn => {
                if !is_bounded(left) {
                    self.guard(first, BOUNDED);
                }
                if !is_bounded(right) {
                    self.guard(second, PACED);
                }
            }
            BinOp::BitOr | BinOp::BitAnd | BinOp::BitXor | BinOp::Subtract if !has_number => {
                // Of dicts and sets.
                self.guard(second, PACED);
            }
            _ if is_bounded(left) || is_bounded(right) => {}
            BinOp::Equal
            | BinOp::NotEqual
            | BinOp::Less
            | BinOp::Greater
            | BinOp::LessOrEqual
            | BinOp::GreaterOrEqual => self.guard(second, BOUNDED),
            _ => {}
        }
    }

    /// Calls a function in place of an operator.
    fn function(&mut self, function: &str, left: Range<usize>, operator: Range<usize>, right: Range<usize>) {
        self.edits.wrap(left.start..right.end, format!("{function}("), ")");
        self.edits.replace(operator, ",");
    }

    fn call(&mut self, callee: &AstExpr, args: &[AstArgument]) {
        for arg in args {
            if let Argument::Args(all) = &arg.node {
                self.guard(self.regions.of_span(all.span), SPREAD);
            }
        }
        if let Expr::Dot(receiver, name) = &callee.node {
            self.attribute(receiver, name, Some(args));
        }
    }

    /// A method that is called with these arguments, or is taken to be called later.
    fn attribute(&mut self, receiver: &AstExpr, name: &AstString, args: Option<&[AstArgument]>) {
        let method = name.node.as_str();
        let is_long = args.is_some() && LONG.contains(&method);
        let Some(number) = number(method) else {
            if is_long {
                self.guard(self.regions.of_attribute(receiver.span, name.span).0, PACED);
            }
            return;
        };
        if !self.taken.insert(name.span.begin().get()) {
            return;
        }
        let values = args.and_then(|args| args.iter().map(single).collect::<Option<Vec<&AstExpr>>>());
        let (range, dot, call) = self.regions.of_attribute(receiver.span, name.span);
        match (method, values, places(receiver)) {
            ("format", Some(values), Some(places)) => {
                return values.into_iter().for_each(|value| self.shown(value, places));
            }
            ("replace", Some(values), _) if values.iter().all(|value| is_bounded(value)) => {
                return self.guard(range, PACED);
            }
            _ => {}
        }
        match (args, call) {
            (Some([Spanned { node: Argument::Positional(key), .. }, ..]), _) if KEYED.contains(&method) => {
                self.key(key);
                if is_long {
                    self.guard(range, PACED);
                }
            }
            (Some(_), Some(after)) => {
                self.edits.wrap(range, format!("{METHOD}({number}, "), "");
                self.edits.replace(dot.start..after, ", ");
            }
            _ => {
                let method = format!("(lambda {RECEIVER}: lambda *a, **k: {METHOD}({number}, {RECEIVER}, *a, **k))(");
                self.edits.wrap(range, method, "");
                self.edits.replace(dot, ")");
            }
        }
    }
}

/// Whether a call stands in an expression.
fn has_call(expr: &AstExpr) -> bool {
    let mut found = matches!(expr.node, Expr::Call(..));
    expr.node.visit_expr(|part| found |= has_call(part));
    found
}

/// How many places a text that is written out may have for `format`.
fn places(expr: &AstExpr) -> Option<usize> {
    match &expr.node {
        Expr::Literal(AstLiteral::String(text)) => Some(text.node.matches('{').count()),
        _ => None,
    }
}

/// An argument that is one value.
fn single(arg: &AstArgument) -> Option<&AstExpr> {
    match &arg.node {
        Argument::Positional(value) | Argument::Named(_, value) => Some(value),
        Argument::Args(_) | Argument::KwArgs(_) => None,
    }
}

fn is_number(expr: &AstExpr) -> bool {
    match &expr.node {
        Expr::Literal(literal) => matches!(literal, AstLiteral::Int(_) | AstLiteral::Float(_)),
        Expr::Minus(number) | Expr::Plus(number) => is_number(number),
        _ => false,
    }
}

/// Whether a value is written out, so that it bounds what it is compared with.
fn is_bounded(expr: &AstExpr) -> bool {
    match &expr.node {
        Expr::Literal(_) => true,
        Expr::Identifier(name) => matches!(name.node.ident.as_str(), "None" | "True" | "False"),
        Expr::Minus(number) | Expr::Plus(number) => is_number(number),
        Expr::Tuple(parts) | Expr::List(parts) => parts.iter().all(is_bounded),
        _ => false,
    }
}
