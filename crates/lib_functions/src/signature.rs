//! Which parameters a function declares, read off the syntax tree.

use starlark_syntax::codemap::Span;
use starlark_syntax::syntax::ast::{AstNoPayload, DefP, Parameter};

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
    pub(crate) fn of(def: &DefP<AstNoPayload>) -> Self {
        let mut parameters = Vec::new();
        let mut takes_any = false;
        for parameter in &def.params {
            match &parameter.node {
                Parameter::Normal(name, _, default) => parameters.push(ParameterInfo {
                    name: name.node.ident.clone(),
                    has_default: default.is_some(),
                    span: parameter.span,
                }),
                Parameter::KwArgs(..) => takes_any = true,
                Parameter::Args(..) | Parameter::NoArgs | Parameter::Slash => {}
            }
        }
        Self { name: def.name.node.ident.clone(), parameters, takes_any, span: def.name.span }
    }

    /// Whether a call may pass this name.
    pub fn accepts(&self, name: &str) -> bool {
        self.takes_any || self.parameters.iter().any(|parameter| parameter.name == name)
    }
}
