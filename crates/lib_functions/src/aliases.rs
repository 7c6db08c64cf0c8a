//! Other names that a file gives to the module `http` and to its functions.

use std::collections::{BTreeMap, BTreeSet};

use starlark_syntax::syntax::ast::{AssignTarget, AstAssignTarget, AstExpr, AstStmt, Expr, Stmt};

/// Other names of the module `http`, and names of its functions.
#[derive(Clone, Default)]
pub(crate) struct Aliases {
    modules: BTreeSet<String>,
    /// With what the module calls them.
    functions: BTreeMap<String, String>,
}

impl Aliases {
    /// Adds what the statements of a block bind, but not what functions within it do.
    pub(crate) fn collect(&mut self, statement: &AstStmt) {
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
            (AssignTarget::Identifier(name), _) if let Some(function) = self.request(value).map(str::to_owned) => {
                self.functions.insert(name.node.ident.clone(), function);
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

    /// The function of the module that it is, as the module calls it.
    pub(crate) fn request<'a>(&'a self, expr: &'a AstExpr) -> Option<&'a str> {
        match &expr.node {
            Expr::Dot(object, name) => self.is_module(object).then_some(name.node.as_str()),
            _ => self.functions.get(name_of(expr)?).map(String::as_str),
        }
    }
}

/// The name that an expression is.
pub(crate) fn name_of(expr: &AstExpr) -> Option<&str> {
    match &expr.node {
        Expr::Identifier(name) => Some(&name.node.ident),
        _ => None,
    }
}
