//! Functions that make requests and never look at the answer's status (chapter 03 §3.4 *Unchecked status*).

use std::collections::BTreeSet;

use starlark::syntax::AstModule;
use starlark_syntax::syntax::ast::{AssignTarget, AstExpr, AstStmt, Expr, Stmt};

use crate::LibError;
use crate::source::Source;

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
pub(crate) fn unchecked_status(module: &AstModule, source: &Source) -> Result<Vec<UncheckedStatus>, LibError> {
    if is_allowed(module, source)? {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut look = |statement: &AstStmt| {
        let Stmt::Def(def) = &statement.node else { return };
        if !FAMILY.contains(&def.name.node.ident.as_str()) {
            return;
        }
        let mut seen = Seen::default();
        seen.statement(module.statement(), false);
        seen.statement(&def.body, true);
        if seen.requests && !seen.looks {
            let place = source.place_of(def.name.span);
            found.push(UncheckedStatus { function: def.name.node.ident.clone(), place });
        }
    };
    each(module.statement(), &mut look);
    Ok(found)
}

fn each(statement: &AstStmt, look: &mut impl FnMut(&AstStmt)) {
    match &statement.node {
        Stmt::Statements(all) => all.iter().for_each(|statement| each(statement, look)),
        _ => look(statement),
    }
}

/// Whether a comment allows it; an error if it gives no reason.
fn is_allowed(module: &AstModule, source: &Source) -> Result<bool, LibError> {
    for span in module.comments() {
        let text = module.file_span(*span).source_span().trim_start_matches('#').trim_start().to_owned();
        let Some(rest) = text.strip_prefix(MARKER) else { continue };
        if rest.trim().is_empty() {
            let message = format!("{}: `{MARKER}` needs a reason", source.path.display());
            return Err(LibError::file(message, "write why behind it", Some(source.place_of(*span))));
        }
        if rest.starts_with(char::is_whitespace) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What was seen in a function.
#[derive(Default)]
struct Seen {
    /// Names that stand for the module `http`.
    aliases: BTreeSet<String>,
    requests: bool,
    looks: bool,
}

impl Seen {
    /// Looks at a statement; outside of the function only for other names of the module.
    fn statement(&mut self, statement: &AstStmt, is_inside: bool) {
        if let Stmt::Assign(assign) = &statement.node
            && let (AssignTarget::Identifier(name), Expr::Identifier(value)) = (&assign.lhs.node, &assign.rhs.node)
            && self.is_module(&value.node.ident)
        {
            self.aliases.insert(name.node.ident.clone());
        }
        match &statement.node {
            Stmt::Statements(all) => all.iter().for_each(|statement| self.statement(statement, is_inside)),
            _ if is_inside => {
                statement.visit_expr(|expr| self.expression(expr));
                statement.visit_stmt(|inner| self.statement(inner, true));
            }
            _ => {}
        }
    }

    fn expression(&mut self, expr: &AstExpr) {
        match &expr.node {
            Expr::Dot(_, name) if matches!(name.node.as_str(), "ok" | "status_code") => self.looks = true,
            Expr::Call(called, _) => match &called.node {
                Expr::Identifier(name) if matches!(name.node.ident.as_str(), "fail" | "abort") => self.looks = true,
                Expr::Dot(object, _) => {
                    self.requests |= matches!(&object.node, Expr::Identifier(name) if self.is_module(&name.node.ident));
                }
                _ => {}
            },
            _ => {}
        }
        expr.visit_expr(|inner| self.expression(inner));
    }

    fn is_module(&self, name: &str) -> bool {
        name == "http" || self.aliases.contains(name)
    }
}
