//! The arguments of a lib call: constants, each for one declared parameter.

use std::collections::HashSet;

use serde_json::Value;
use types::Rule;

use super::FetchArgument;
use super::calls::is_bare;
use super::facts::{LibFacts, closest, find};
use super::from::Call;
use super::places::start;
use crate::SqlFinding;
use crate::nodes::{child, class, kind, list, text, texts, visit};

/// Names that the engine takes for a function without parentheses.
const VALUE_FUNCTIONS: [&str; 11] = [
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "localtime",
    "localtimestamp",
    "session_user",
    "user",
];

/// The arguments, with what is wrong about them. Those of a broken lib have no parameters, so there are none.
pub(super) fn read(call: &Call<'_>, libs: &[LibFacts], findings: &mut Vec<SqlFinding>) -> Vec<FetchArgument> {
    let arguments = list(call.function, "children");
    for (at, argument) in arguments.iter().enumerate() {
        findings.extend(not_constant(named(argument).1, at + 1, call, libs));
    }
    if call.lib.is_broken {
        return Vec::new();
    }
    assign(arguments, call, findings)
}

/// An argument's name and its expression: the engine reads `name = value` in FROM as `name => value`.
fn named(argument: &Value) -> (Option<String>, &Value) {
    if let Some(name) = text(argument, "alias") {
        return (Some(name.to_owned()), argument);
    }
    if let ("COMPARE_EQUAL", Some(left), Some(right)) =
        (kind(argument), child(argument, "left"), child(argument, "right"))
        && class(left) == "COLUMN_REF"
        && let [name] = &texts(left, "column_names")[..]
    {
        return (Some(name.clone()), right);
    }
    (None, argument)
}

fn assign(arguments: &[Value], call: &Call<'_>, findings: &mut Vec<SqlFinding>) -> Vec<FetchArgument> {
    let (lib, name) = (call.lib, &call.name);
    let takes =
        format!("{} takes: {}", lib.name, if lib.args.is_empty() { "nothing".into() } else { lib.args.join(", ") });
    let mut mismatch = |offset: Option<usize>, message: String, help: &str| {
        findings.push(SqlFinding::new(Rule::ArgsMismatch, offset, message, help));
    };
    let mut assigned = Vec::new();
    let mut given = HashSet::new();
    let (mut is_named, mut is_full) = (false, false);
    for (at, argument) in arguments.iter().enumerate() {
        let (written, value) = named(argument);
        let offset = start(argument);
        let parameter = match &written {
            Some(written) => {
                is_named = true;
                let Some(parameter) = lib.parameter(written) else {
                    let help = closest(written, lib.args.iter().map(String::as_str));
                    let help = help.map_or_else(|| takes.clone(), |other| format!("did you mean \"{other}\"? {takes}"));
                    mismatch(offset, format!("\"{name}\" has no argument \"{written}\""), &help);
                    continue;
                };
                parameter
            }
            None if is_named => {
                let message = format!("argument {} of \"{name}\" has no name and stands behind one that has", at + 1);
                mismatch(offset, message, "put the arguments without a name first, or name them all");
                continue;
            }
            None => match lib.args.get(at) {
                Some(parameter) => parameter,
                None if is_full => continue,
                None => {
                    is_full = true;
                    let (most, count) = (lib.args.len(), arguments.len());
                    mismatch(offset, format!("too many arguments: \"{name}\" takes {most}, not {count}"), &takes);
                    continue;
                }
            },
        };
        if given.insert(parameter) {
            assigned.push(FetchArgument { parameter: parameter.to_owned(), offset, expression: value.clone() });
        } else {
            mismatch(offset, format!("the argument \"{parameter}\" of \"{name}\" is given twice"), "leave one of them");
        }
    }
    // A wrong name or place is what is missing, most of the time; both together say which.
    for required in lib.required.iter().filter(|required| !given.contains(required.as_str())) {
        mismatch(call.offset, format!("missing required argument \"{required}\" of \"{name}\""), &takes);
    }
    assigned
}

/// What keeps an expression from having a value of its own.
fn not_constant(node: &Value, position: usize, call: &Call<'_>, libs: &[LibFacts]) -> Option<SqlFinding> {
    let of = format!("argument {position} of \"{}\"", call.name);
    let constant = "arguments are constants: literals, getvariable('name') and functions of them";
    let (hindrance, offset) = hindrance(node, &[], libs)?;
    let offset = offset.or_else(|| start(node)).or(call.offset);
    Some(match hindrance {
        Hindrance::Column(name) => {
            let message = format!("{of} is not constant: it holds the column \"{name}\"");
            let help = "a text stands in single quotes; values of the lake come with getvariable('name')";
            SqlFinding::new(Rule::FetchOther, offset, message, help)
        }
        Hindrance::LibCall(name) => {
            let message = format!("{of} calls the lib function \"{name}\": an @fetch model has one lib call");
            SqlFinding::new(Rule::MultipleLibCalls, offset, message, constant)
        }
        Hindrance::Other(what) => {
            SqlFinding::new(Rule::FetchOther, offset, format!("{of} is not constant: it holds {what}"), constant)
        }
    })
}

enum Hindrance {
    Column(String),
    LibCall(String),
    Other(&'static str),
}

/// The first hindrance and where it begins. `bound` are the parameters of the lambdas around.
fn hindrance(node: &Value, bound: &[String], libs: &[LibFacts]) -> Option<(Hindrance, Option<usize>)> {
    let mut found = None;
    visit(node, &mut |node| {
        if found.is_some() {
            return false;
        }
        if class(node) == "LAMBDA" {
            found = lambda(node, bound, libs);
            return false;
        }
        let own = match class(node) {
            "COLUMN_REF" => free_column(node, bound),
            "FUNCTION" => nested_call(node, libs),
            "SUBQUERY" => Some(Hindrance::Other("a subquery")),
            "WINDOW" => Some(Hindrance::Other("a window function")),
            "PARAMETER" => Some(Hindrance::Other("a parameter")),
            "DEFAULT" => Some(Hindrance::Other("DEFAULT")),
            "STAR" => Some(Hindrance::Other("a star")),
            "POSITIONAL_REFERENCE" => Some(Hindrance::Other("the number of a column")),
            _ => None,
        };
        found = own.map(|own| (own, start(node)));
        found.is_none()
    });
    found
}

fn free_column(node: &Value, bound: &[String]) -> Option<Hindrance> {
    let names = texts(node, "column_names");
    let first = names.first().map(|name| name.to_lowercase()).unwrap_or_default();
    let is_function = names.len() == 1 && VALUE_FUNCTIONS.contains(&first.as_str());
    let is_known = is_function || bound.contains(&first);
    (!is_known).then(|| Hindrance::Column(names.join(".")))
}

fn nested_call(node: &Value, libs: &[LibFacts]) -> Option<Hindrance> {
    // With a schema it is the engine's own of the same name.
    let name = text(node, "function_name").filter(|_| is_bare(node))?;
    find(libs, name).map(|lib| Hindrance::LibCall(lib.name.clone()))
}

/// `x -> …` and `lambda x: …`; JSON's arrow is the same node with a value to its left.
fn lambda(node: &Value, bound: &[String], libs: &[LibFacts]) -> Option<(Hindrance, Option<usize>)> {
    let (left, body) = (child(node, "lhs")?, child(node, "expr")?);
    let parameters: Vec<&Value> = match text(left, "function_name") {
        Some("row") => list(left, "children").iter().collect(),
        _ => vec![left],
    };
    if !parameters.iter().all(|parameter| class(parameter) == "COLUMN_REF") {
        return hindrance(left, bound, libs).or_else(|| hindrance(body, bound, libs));
    }
    let own = parameters.iter().flat_map(|parameter| texts(parameter, "column_names"));
    let inner: Vec<String> = bound.iter().cloned().chain(own.map(|name| name.to_lowercase())).collect();
    hindrance(body, &inner, libs)
}
