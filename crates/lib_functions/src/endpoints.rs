//! Which requests a file makes, read off its syntax tree (chapter 05 §3.10).

use starlark::syntax::AstModule;
use starlark_syntax::syntax::ast::{Argument, AssignTarget, AstArgument, AstExpr, AstLiteral, AstStmt, Expr, Stmt};
use starlark_syntax::syntax::uniplate::Visit;

use crate::aliases::Aliases;

/// A call of a function of the module `http`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Endpoint {
    /// Method of the request.
    pub method: &'static str,
    /// What it is sent to, if that stands literally in the call.
    pub path: Option<String>,
    /// The innermost function around the call that has a name.
    pub function: Option<String>,
}

/// All calls of a file, in its order; those of files that it loads are theirs.
pub(crate) fn endpoints(module: &AstModule) -> Vec<Endpoint> {
    let mut walk = Walk { found: Vec::new() };
    let mut globals = Aliases::default();
    globals.collect(module.statement());
    walk.statement(module.statement(), &globals, None);
    walk.found
}

struct Walk {
    found: Vec<Endpoint>,
}

impl Walk {
    fn statement(&mut self, statement: &AstStmt, aliases: &Aliases, function: Option<&str>) {
        match &statement.node {
            Stmt::Def(def) => {
                let mut own = aliases.clone();
                own.collect(&def.body);
                let name = Some(def.name.node.ident.as_str());
                statement.node.visit_children(|child| self.child(&child, &own, name));
            }
            Stmt::Assign(assign) => {
                let named = match (&assign.lhs.node, &assign.rhs.node) {
                    (AssignTarget::Identifier(name), Expr::Lambda(_)) => Some(name.node.ident.as_str()),
                    _ => function,
                };
                statement.node.visit_children(|child| self.child(&child, aliases, named));
            }
            node => node.visit_children(|child| self.child(&child, aliases, function)),
        }
    }

    fn child(
        &mut self,
        child: &Visit<'_, starlark_syntax::syntax::ast::AstNoPayload>,
        aliases: &Aliases,
        function: Option<&str>,
    ) {
        match child {
            Visit::Stmt(statement) => self.statement(statement, aliases, function),
            Visit::Expr(expr) => self.expression(expr, aliases, function),
        }
    }

    fn expression(&mut self, expr: &AstExpr, aliases: &Aliases, function: Option<&str>) {
        if let Expr::Call(called, arguments) = &expr.node
            && let Some(method) = aliases.request(called).and_then(method)
        {
            let (path, function) = (literal_url(&arguments.args), function.map(str::to_owned));
            self.found.push(Endpoint { method, path, function });
        }
        expr.visit_expr(|inner| self.expression(inner, aliases, function));
    }
}

/// The method that a function of the module sends.
fn method(function: &str) -> Option<&'static str> {
    Some(match function {
        "get" => "GET",
        "post" | "upload" => "POST",
        "put" => "PUT",
        "patch" => "PATCH",
        "delete" => "DELETE",
        _ => return None,
    })
}

/// The URL of a call, by its place or its name, if it is a text that stands there.
fn literal_url(arguments: &[AstArgument]) -> Option<String> {
    let url = match &arguments.first()?.node {
        Argument::Positional(url) => Some(url),
        _ => arguments.iter().find_map(|argument| match &argument.node {
            Argument::Named(name, url) if name.node == "url" => Some(url),
            _ => None,
        }),
    };
    match &url?.node {
        Expr::Literal(AstLiteral::String(text)) => Some(text.node.clone()),
        _ => None,
    }
}
