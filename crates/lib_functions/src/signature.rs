//! Which parameters a function declares, read off the syntax tree.

use starlark_syntax::codemap::Span;
use starlark_syntax::syntax::ast::{AstParameter, Parameter};

/// A function of a lib file.
#[derive(Debug, Clone)]
pub struct Signature {
    /// Its name.
    pub name: String,
    /// Its parameters, without `*args` and `**kwargs`.
    pub parameters: Vec<ParameterInfo>,
    /// Whether it takes any name.
    pub takes_any: bool,
    pub(crate) span: Span,
}

/// A parameter.
#[derive(Debug, Clone)]
pub struct ParameterInfo {
    /// Its name.
    pub name: String,
    /// Whether a call may leave it out.
    pub has_default: bool,
    pub(crate) span: Span,
}

impl Signature {
    pub(crate) fn new(name: &str, span: Span, declared: &[AstParameter]) -> Self {
        let parameter = |parameter: &AstParameter| match &parameter.node {
            Parameter::Normal(name, _, default) => {
                Some(ParameterInfo { name: name.node.ident.clone(), has_default: default.is_some(), span: name.span })
            }
            Parameter::KwArgs(..) | Parameter::Args(..) | Parameter::NoArgs | Parameter::Slash => None,
        };
        Self {
            name: name.to_owned(),
            parameters: declared.iter().filter_map(parameter).collect(),
            takes_any: declared.iter().any(|parameter| matches!(parameter.node, Parameter::KwArgs(..))),
            span,
        }
    }

    /// The function under the name that another file loads it by: errors about it point there.
    pub(crate) fn loaded_as(&self, name: &str, span: Span) -> Self {
        let parameters = self.parameters.iter().map(|parameter| ParameterInfo { span, ..parameter.clone() }).collect();
        Self { name: name.to_owned(), parameters, takes_any: self.takes_any, span }
    }

    /// Whether a call may pass this name.
    pub fn accepts(&self, name: &str) -> bool {
        self.takes_any || self.parameters.iter().any(|parameter| parameter.name == name)
    }
}
