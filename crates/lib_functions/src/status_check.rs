//! Functions that make requests and never look at the answer's status (chapter 03 §3.4 *Unchecked status*).

use std::collections::BTreeSet;

use starlark::syntax::AstModule;
use starlark_syntax::syntax::ast::{AssignTarget, AstAssignTarget, AstExpr, AstStmt, Expr, Stmt};

use crate::source::Source;
use crate::top_level::{function_of, statements};

const FAMILY: [&str; 4] = ["fetch", "submit", "check", "fetch_result"];
const MARKER: &str = "ondatracheck:allow-unchecked-status";

/// A function that does not look at the status.
#[derive(Debug, Clone)]
pub struct UncheckedStatus {
    /// The function.
    pub function: String,
    /// Where it is.
    pub place: types::Place,
}

/// The functions of a file that fetch without looking at the status; none if a comment allows it.
pub(crate) fn unchecked_status(module: &AstModule, source: &Source) -> Vec<UncheckedStatus> {
    if is_allowed(module) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut globals = Aliases::default();
    globals.collect(module.statement());
    for statement in statements(module.statement()) {
        let Some(function) = function_of(statement) else { continue };
        if !FAMILY.contains(&function.name.as_str()) {
            continue;
        }
        let mut seen = Seen { aliases: globals.clone(), ..Seen::default() };
        if let Stmt::Def(def) = &statement.node {
            seen.aliases.collect(&def.body);
        }
        statement.visit_expr(|expr| seen.expression(expr));
        if seen.requests && !seen.looks {
            found.push(UncheckedStatus { place: source.place_of(function.span), function: function.name });
        }
    }
    found
}

/// Whether a comment allows it. One that gives no reason does not.
fn is_allowed(module: &AstModule) -> bool {
    module.comments().iter().any(|span| {
        let comment = module.file_span(*span);
        let text = comment.source_span().trim_start_matches('#').trim();
        text.strip_prefix(MARKER).is_some_and(|reason| reason.starts_with(char::is_whitespace))
    })
}

/// Other names of the module `http`, and names of its functions.
#[derive(Clone, Default)]
struct Aliases {
    modules: BTreeSet<String>,
    functions: BTreeSet<String>,
}

impl Aliases {
    /// Adds what the statements of a block bind, but not what functions within it do.
    fn collect(&mut self, statement: &AstStmt) {
        match &statement.node {
            Stmt::Assign(assign) => self.assignment(&assign.lhs, &assign.rhs),
            Stmt::Def(_) => {}
            _ => statement.visit_stmt(|inner| self.collect(inner)),
        }
    }

    fn assignment(&mut self, target: &AstAssignTarget, value: &AstExpr) {
        match (&target.node, &value.node) {
            (AssignTarget::Identifier(name), Expr::Identifier(_)) if self.is_module(value) => {
                self.modules.insert(name.node.ident.clone());
            }
            (AssignTarget::Identifier(name), _) if self.is_request(value) => {
                self.functions.insert(name.node.ident.clone());
            }
            (AssignTarget::Tuple(targets), Expr::Tuple(values) | Expr::List(values)) => {
                targets.iter().zip(values).for_each(|(target, value)| self.assignment(target, value));
            }
            _ => {}
        }
    }

    fn is_module(&self, expr: &AstExpr) -> bool {
        name_of(expr).is_some_and(|name| name == "http" || self.modules.contains(name))
    }

    /// Whether it is a function of the module.
    fn is_request(&self, expr: &AstExpr) -> bool {
        match &expr.node {
            Expr::Dot(object, _) => self.is_module(object),
            _ => name_of(expr).is_some_and(|name| self.functions.contains(name)),
        }
    }
}

fn name_of(expr: &AstExpr) -> Option<&str> {
    match &expr.node {
        Expr::Identifier(name) => Some(&name.node.ident),
        _ => None,
    }
}

/// What was seen in a function.
#[derive(Default)]
struct Seen {
    aliases: Aliases,
    requests: bool,
    looks: bool,
}

impl Seen {
    fn expression(&mut self, expr: &AstExpr) {
        match &expr.node {
            Expr::Dot(_, name) => self.looks |= matches!(name.node.as_str(), "ok" | "status_code"),
            Expr::Call(called, _) => {
                self.looks |= matches!(name_of(called), Some("fail" | "abort"));
                self.requests |= self.aliases.is_request(called);
            }
            _ => {}
        }
        expr.visit_expr(|inner| self.expression(inner));
    }
}
