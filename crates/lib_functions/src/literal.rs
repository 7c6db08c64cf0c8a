//! Values that stand literally in a file: read off the syntax tree, nothing is executed.

use std::collections::BTreeSet;

use num_bigint::BigInt;
use starlark_syntax::codemap::Span;
use starlark_syntax::lexer::TokenInt;
use starlark_syntax::syntax::ast::{AstExpr, AstLiteral, Expr};
use types::Rule;

/// A literal with its place.
#[derive(Debug, Clone)]
pub(crate) struct Literal {
    pub value: LiteralValue,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum LiteralValue {
    None,
    Bool(bool),
    Int(BigInt),
    Float(f64),
    Text(String),
    List(Vec<Literal>),
    Dict(Vec<Entry>),
}

/// A key of a dict with its value.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub name: String,
    /// Of the key.
    pub span: Span,
    pub value: Literal,
}

/// What is wrong at which place of the adapted text.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub rule: Rule,
    pub message: String,
    pub span: Span,
}

impl Problem {
    pub(crate) fn new(message: impl Into<String>, span: Span) -> Self {
        Self { rule: Rule::InvalidApiDict, message: message.into(), span }
    }

    /// The same as a breach of another rule.
    pub(crate) fn under(self, rule: Rule) -> Self {
        Self { rule, ..self }
    }
}

impl LiteralValue {
    /// What the value is called in messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Float(_) => "float",
            Self::Text(_) => "string",
            Self::List(_) => "list",
            Self::Dict(_) => "dict",
        }
    }

    /// A number, whatever its form.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Int(int) => int.to_string().parse().ok(),
            Self::Float(float) => Some(*float),
            _ => None,
        }
    }
}

/// Reads a literal; `path` names it in messages, like `API["fetch"]["args"]`.
pub(crate) fn read(expr: &AstExpr, path: &str) -> Result<Literal, Problem> {
    let value = match &expr.node {
        Expr::Literal(literal) => of_token(literal, path, expr.span)?,
        Expr::Identifier(name) => match name.node.ident.as_str() {
            "True" => LiteralValue::Bool(true),
            "False" => LiteralValue::Bool(false),
            "None" => LiteralValue::None,
            other => return Err(not_literal(path, &format!("the name `{other}`"), expr.span)),
        },
        Expr::Minus(inner) => signed(inner, path, expr.span, true)?,
        Expr::Plus(inner) => signed(inner, path, expr.span, false)?,
        Expr::List(items) => {
            let read = |(at, item)| read(item, &format!("{path}[{at}]"));
            LiteralValue::List(items.iter().enumerate().map(read).collect::<Result<_, _>>()?)
        }
        Expr::Dict(entries) => LiteralValue::Dict(dict(entries, path)?),
        other => return Err(not_literal(path, what(other), expr.span)),
    };
    Ok(Literal { value, span: expr.span })
}

fn of_token(literal: &AstLiteral, path: &str, span: Span) -> Result<LiteralValue, Problem> {
    match literal {
        AstLiteral::Int(int) => Ok(LiteralValue::Int(match &int.node {
            TokenInt::I32(int) => BigInt::from(*int),
            TokenInt::BigInt(int) => int.clone(),
        })),
        AstLiteral::Float(float) => Ok(LiteralValue::Float(float.node)),
        AstLiteral::String(text) => Ok(LiteralValue::Text(text.node.clone())),
        AstLiteral::Bytes(_) => Err(not_literal(path, "bytes", span)),
        AstLiteral::Ellipsis => Err(not_literal(path, "`...`", span)),
    }
}

fn signed(inner: &AstExpr, path: &str, span: Span, is_negative: bool) -> Result<LiteralValue, Problem> {
    match read(inner, path)?.value {
        LiteralValue::Int(int) => Ok(LiteralValue::Int(if is_negative { -int } else { int })),
        LiteralValue::Float(float) => Ok(LiteralValue::Float(if is_negative { -float } else { float })),
        _ => Err(not_literal(path, "a sign before what is no number", span)),
    }
}

fn dict(entries: &[(AstExpr, AstExpr)], path: &str) -> Result<Vec<Entry>, Problem> {
    let mut names = BTreeSet::new();
    let entry = |(key, value): &(AstExpr, AstExpr)| {
        let LiteralValue::Text(name) = read(key, &format!("a key of {path}"))?.value else {
            return Err(Problem::new(format!("a key of {path} is not a string"), key.span));
        };
        if !names.insert(name.clone()) {
            return Err(Problem::new(format!("{path} has the key \"{name}\" twice"), key.span));
        }
        let value = read(value, &format!("{path}[\"{name}\"]"))?;
        Ok(Entry { name, span: key.span, value })
    };
    entries.iter().map(entry).collect()
}

fn not_literal(path: &str, what: &str, span: Span) -> Problem {
    Problem::new(format!("{path} must be a literal value, not {what}: it is read, not executed"), span)
}

fn what(expr: &Expr) -> &'static str {
    match expr {
        Expr::Call(..) => "a call",
        Expr::Op(..) | Expr::Not(_) | Expr::BitNot(_) => "a calculation",
        Expr::ListComprehension(..) | Expr::DictComprehension(..) => "a comprehension",
        Expr::FString(_) => "an f-string",
        Expr::Tuple(_) => "a tuple",
        Expr::Lambda(_) => "a lambda",
        Expr::If(_) => "a condition",
        Expr::Dot(..) | Expr::Index(_) | Expr::Index2(_) | Expr::Slice(..) => "a part of something else",
        _ => "an expression",
    }
}
