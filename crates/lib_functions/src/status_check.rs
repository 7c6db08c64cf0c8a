//! Functions that make requests and never look at the answer's status (chapter 03 §3.4 *Unchecked status*).

use starlark::syntax::AstModule;
use starlark_syntax::syntax::ast::{AstExpr, Expr, Stmt};

use crate::aliases::{Aliases, name_of};
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
                self.requests |= self.aliases.request(called).is_some();
            }
            _ => {}
        }
        expr.visit_expr(|inner| self.expression(inner));
    }
}
