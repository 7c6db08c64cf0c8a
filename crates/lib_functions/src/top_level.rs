//! What stands at the top level of a file: its names, its functions, its `API`.

use std::collections::BTreeMap;

use starlark::syntax::AstModule;
use starlark_syntax::codemap::Span;
use starlark_syntax::syntax::ast::{AssignTarget, AstAssignTarget, AstExpr, AstStmt, Expr, Load, Stmt};

use crate::literal::{self, Literal, Problem};
use crate::signature::Signature;

/// The name of the dict.
const API: &str = "API";
/// Methods of dicts and lists that change them.
const CHANGING: [&str; 10] =
    ["update", "pop", "popitem", "clear", "setdefault", "append", "extend", "insert", "remove", "sort"];

/// What stands at the top level of a file.
pub(crate) struct TopLevel {
    /// The dict with the place of its name.
    pub api: Option<(Literal, Span)>,
    /// Functions by name. That of a `load` is added by who reads the other file.
    pub functions: BTreeMap<String, Signature>,
    /// Every name that is bound here, and where; those that are loaded are others' names.
    pub names: BTreeMap<String, Span>,
}

impl TopLevel {
    /// Reads a file of which nothing is executed.
    pub(crate) fn read(module: &AstModule) -> Result<Self, Problem> {
        let mut top = Self { api: None, functions: BTreeMap::new(), names: BTreeMap::new() };
        for statement in statements(module.statement()) {
            check_leaves_api(statement)?;
            for (name, span) in names_bound_by(statement) {
                if top.names.insert(name.clone(), span).is_some() {
                    return Err(Problem::new(format!("the name `{name}` is bound a second time"), span));
                }
                if name == API {
                    top.api = Some((api_of(statement, span)?, span));
                }
            }
            if let Some(signature) = function_of(statement) {
                top.functions.insert(signature.name.clone(), signature);
            }
        }
        Ok(top)
    }
}

/// The statements of a block, one by one.
pub(crate) fn statements(block: &AstStmt) -> Vec<&AstStmt> {
    match &block.node {
        Stmt::Statements(all) => all.iter().flat_map(statements).collect(),
        _ => vec![block],
    }
}

/// The `load` statements of a file.
pub(crate) fn loads(module: &AstModule) -> impl Iterator<Item = &Load> {
    statements(module.statement()).into_iter().filter_map(|statement| match &statement.node {
        Stmt::Load(load) => Some(load),
        _ => None,
    })
}

/// What the statement that binds `API` binds it to.
fn api_of(statement: &AstStmt, span: Span) -> Result<Literal, Problem> {
    match &statement.node {
        Stmt::Assign(assign) if matches!(assign.lhs.node, AssignTarget::Identifier(_)) => {
            literal::read(&assign.rhs, API)
        }
        _ => Err(Problem::new("API must be bound by `API = {…}`: it is read, not executed", span)),
    }
}

/// The function that a statement defines, by `def` or as a lambda with a name.
pub(crate) fn function_of(statement: &AstStmt) -> Option<Signature> {
    match &statement.node {
        Stmt::Def(def) => Some(Signature::new(&def.name.node.ident, def.name.span, &def.params)),
        Stmt::Assign(assign) => match (&assign.lhs.node, &assign.rhs.node) {
            (AssignTarget::Identifier(name), Expr::Lambda(lambda)) => {
                Some(Signature::new(&name.node.ident, name.span, &lambda.params))
            }
            _ => None,
        },
        _ => None,
    }
}

/// An error for `API["x"] = 1`, `API.update(…)`: the dict would not be what stands there.
fn check_leaves_api(statement: &AstStmt) -> Result<(), Problem> {
    let mut change = match &statement.node {
        Stmt::Assign(assign) => part_of_api(&assign.lhs),
        Stmt::AssignModify(target, ..) => part_of_api(target).or_else(|| names_in(target).pop().filter(is_api)),
        _ => None,
    }
    .map(|(_, span)| span);
    if !matches!(statement.node, Stmt::Def(_)) {
        statement.visit_expr(|expr| change = change.or_else(|| change_within(expr)));
    }
    match change {
        Some(span) => Err(Problem::new("API is changed after it was bound: write it out at once", span)),
        None => Ok(()),
    }
}

fn is_api(name: &(String, Span)) -> bool {
    name.0 == API
}

/// `API` in an assignment to a part of it.
fn part_of_api(target: &AstAssignTarget) -> Option<(String, Span)> {
    match &target.node {
        AssignTarget::Index(parts) => root_of(&parts.0),
        AssignTarget::Dot(object, _) => root_of(object),
        AssignTarget::Tuple(targets) => targets.iter().find_map(part_of_api),
        AssignTarget::Identifier(_) => None,
    }
    .filter(is_api)
}

/// The name that an expression takes a part of: `a` of `a["x"].y`.
fn root_of(mut expr: &AstExpr) -> Option<(String, Span)> {
    loop {
        expr = match &expr.node {
            Expr::Index(parts) => &parts.0,
            Expr::Dot(object, _) => object,
            Expr::Call(called, _) => called,
            Expr::Identifier(name) => return Some((name.node.ident.clone(), expr.span)),
            _ => return None,
        }
    }
}

/// `API` in a call that changes it, or a part of it.
fn change_within(expr: &AstExpr) -> Option<Span> {
    let mut found = match &expr.node {
        Expr::Call(called, _) => match &called.node {
            Expr::Dot(object, method) if CHANGING.contains(&method.node.as_str()) => {
                root_of(object).filter(is_api).map(|(_, span)| span)
            }
            _ => None,
        },
        _ => None,
    };
    expr.visit_expr(|inner| found = found.or_else(|| change_within(inner)));
    found
}

fn names_bound_by(statement: &AstStmt) -> Vec<(String, Span)> {
    match &statement.node {
        Stmt::Assign(assign) => names_in(&assign.lhs),
        Stmt::AssignModify(target, ..) => names_in(target),
        Stmt::Def(def) => vec![(def.name.node.ident.clone(), def.name.span)],
        Stmt::Load(load) => load.args.iter().map(|arg| (arg.local.node.ident.clone(), arg.local.span)).collect(),
        _ => Vec::new(),
    }
}

fn names_in(target: &AstAssignTarget) -> Vec<(String, Span)> {
    match &target.node {
        AssignTarget::Identifier(name) => vec![(name.node.ident.clone(), name.span)],
        AssignTarget::Tuple(targets) => targets.iter().flat_map(names_in).collect(),
        AssignTarget::Index(_) | AssignTarget::Dot(..) => Vec::new(),
    }
}
