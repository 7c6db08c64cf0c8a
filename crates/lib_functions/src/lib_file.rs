//! A file of `lib/`: its API and its functions, known without running it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use starlark::syntax::AstModule;
use starlark_syntax::codemap::Span;
use starlark_syntax::syntax::ast::{AssignTarget, AstAssignTarget, AstStmt, Expr, Stmt};

use crate::LibError;
use crate::api::{Api, UnknownKey};
use crate::literal::{self, Problem};
use crate::parse::parse;
use crate::program::Program;
use crate::signature::Signature;
use crate::signatures::check_signatures;
use crate::source::Source;
use crate::status_check::{UncheckedStatus, unchecked_status};

/// A lib function: a file of `lib/` with an `API`.
#[derive(Debug, Clone)]
pub struct Lib {
    /// What SQL calls it: the file's stem.
    pub name: String,
    /// The file, relative to the project.
    pub path: PathBuf,
    /// What it declares.
    pub api: Api,
    /// Its functions by name.
    pub functions: BTreeMap<String, Signature>,
    /// Functions that make requests and never look at the answer's status.
    pub unchecked_status: Vec<UncheckedStatus>,
    /// Remarks about keys of `API` that nobody knows.
    pub remarks: Vec<Remark>,
    /// The file and all that it loads.
    pub(crate) program: Program,
}

impl Lib {
    /// The texts of the file and of all that it loads, for fingerprints.
    pub fn texts(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.program.modules().iter().map(|module| (module.source.path.as_path(), module.source.text.as_ref()))
    }
}

/// A remark about a lib file that is no error.
#[derive(Debug, Clone)]
pub struct Remark {
    /// The rule.
    pub rule: &'static str,
    /// What it says.
    pub message: String,
    /// Where.
    pub place: types::Place,
}

/// What a file turned out to be.
pub(crate) enum Read {
    Lib(Box<Lib>),
    /// No `API`: other files load it.
    Helper,
}

/// Reads a file of `lib/`. Nothing of it is executed.
pub(crate) fn read_lib(root: &Path, path: &Path) -> Result<Read, LibError> {
    let program = Program::read(root, path)?;
    let source = program.main();
    let module = parse(source)?;
    let top = TopLevel::read(&module).map_err(|problem| source.error(&problem))?;
    let Some(api) = top.api else { return Ok(Read::Helper) };
    let (api, unknown) = Api::read(api).map_err(|problem| source.error(&problem))?;
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    check_signatures(&api, &top.functions).map_err(|problem| source.error(&problem))?;
    let unchecked_status = unchecked_status(&module, source)?;
    let remarks = unknown.iter().map(|key| remark(source, key)).collect();
    let functions = top.functions;
    Ok(Read::Lib(Box::new(Lib { name, path: path.to_owned(), api, functions, unchecked_status, remarks, program })))
}

fn remark(source: &Source, key: &UnknownKey) -> Remark {
    let closest = key.closest.map_or_else(String::new, |known| format!(", the closest known key is \"{known}\""));
    Remark {
        rule: "blueprint.unknown_key",
        message: format!("{} is no known key{closest}", key.path),
        place: source.place_of(key.literal.span),
    }
}

/// What stands at the top level of a file.
struct TopLevel {
    api: Option<literal::Literal>,
    functions: BTreeMap<String, Signature>,
}

impl TopLevel {
    fn read(module: &AstModule) -> Result<Self, Problem> {
        let mut top = Self { api: None, functions: BTreeMap::new() };
        let mut bound: BTreeMap<String, Span> = BTreeMap::new();
        for statement in statements(module.statement()) {
            check_is_no_change_of_api(statement)?;
            for (name, span) in names_bound_by(statement) {
                if bound.insert(name.clone(), span).is_some() {
                    return Err(Problem::new(format!("the name `{name}` is bound twice"), span));
                }
            }
            match &statement.node {
                Stmt::Assign(assign) if is_api(&assign.lhs) => {
                    let literal = literal::read(&assign.rhs, "API")?;
                    top.api = Some(literal);
                }
                Stmt::Def(def) => {
                    let signature = Signature::of(def);
                    top.functions.insert(signature.name.clone(), signature);
                }
                _ => {}
            }
        }
        Ok(top)
    }
}

/// The statements of a block, one by one.
fn statements(block: &AstStmt) -> Vec<&AstStmt> {
    match &block.node {
        Stmt::Statements(all) => all.iter().flat_map(statements).collect(),
        _ => vec![block],
    }
}

fn is_api(target: &AstAssignTarget) -> bool {
    matches!(&target.node, AssignTarget::Identifier(name) if name.node.ident == "API")
}

/// `API["x"] = 1`, `API.update(…)`: the dict would not be what stands there.
fn check_is_no_change_of_api(statement: &AstStmt) -> Result<(), Problem> {
    let is_api = |expr: &Expr| matches!(expr, Expr::Identifier(name) if name.node.ident == "API");
    let changes = match &statement.node {
        Stmt::Assign(assign) => target_of(&assign.lhs).is_some_and(is_api),
        Stmt::AssignModify(target, ..) => {
            target_of(target).is_some_and(is_api)
                || matches!(&target.node, AssignTarget::Identifier(name) if name.node.ident == "API")
        }
        Stmt::Expression(expr) => match &expr.node {
            Expr::Call(called, _) => matches!(&called.node, Expr::Dot(object, _) if is_api(&object.node)),
            _ => false,
        },
        _ => false,
    };
    match changes {
        true => Err(Problem::new("API is changed after it was written out", statement.span)),
        false => Ok(()),
    }
}

/// What an assignment to a part goes to: `API` of `API["x"]["y"]`.
fn target_of(target: &AstAssignTarget) -> Option<&Expr> {
    let mut expr = match &target.node {
        AssignTarget::Index(parts) => &parts.0.node,
        AssignTarget::Dot(object, _) => &object.node,
        _ => return None,
    };
    loop {
        match expr {
            Expr::Index(parts) => expr = &parts.0.node,
            Expr::Dot(object, _) => expr = &object.node,
            other => return Some(other),
        }
    }
}

fn names_bound_by(statement: &AstStmt) -> Vec<(String, Span)> {
    match &statement.node {
        Stmt::Assign(assign) => names_in(&assign.lhs),
        Stmt::AssignModify(target, ..) => {
            // It binds a name that is bound already.
            names_in(target).into_iter().flat_map(|name| [name.clone(), name]).collect()
        }
        Stmt::Def(def) => vec![(def.name.node.ident.clone(), def.name.span)],
        Stmt::Load(load) => load.args.iter().map(|arg| (arg.local.node.ident.clone(), arg.local.span)).collect(),
        _ => Vec::new(),
    }
}

fn names_in(target: &AstAssignTarget) -> Vec<(String, Span)> {
    match &target.node {
        AssignTarget::Identifier(name) => vec![(name.node.ident.clone(), name.span)],
        AssignTarget::Tuple(targets) => targets.iter().flat_map(names_in).collect(),
        _ => Vec::new(),
    }
}
