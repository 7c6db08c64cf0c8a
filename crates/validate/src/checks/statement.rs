//! A model is one SELECT, in a schema of its own (chapters 01 §3.5 and 02 §1.1).

use model::{Code, Finding, Model, SyntaxTree, TreeError};
use types::Rule;

/// First words of the statements that give rows.
const SELECTS: [&str; 11] =
    ["PIVOT", "UNPIVOT", "WITH", "FROM", "SELECT", "(", "SUMMARIZE", "DESCRIBE", "SHOW", "TABLE", "VALUES"];

/// SQL that the engine cannot read, no SELECT, or several: the engine counts, whatever the text looks like.
pub fn check_statement(model: &Model, tree: &Result<SyntaxTree, TreeError>) -> Option<Finding> {
    // Texts of the engine end at one, so what it read is not what stands there.
    if let Some(at) = model.sql().find('\0') {
        let help = "remove the character; the file may be in another encoding than UTF-8";
        return Some(Finding::new(Rule::Syntax, model.sql_place(at), "a NUL character is no part of SQL", help));
    }
    match tree {
        Err(TreeError::Syntax { message, offset }) => Some(syntax(model, message, *offset)),
        Err(TreeError::NotSerializable { .. }) => no_select(model),
        Ok(tree) => several(model, tree.statement_count()).or_else(|| parameter(model, tree)),
    }
}

fn syntax(model: &Model, message: &str, offset: Option<usize>) -> Finding {
    let help = if model.sql().contains("{{") || model.sql().contains("{%") {
        "models have no templates: name the table itself, like staging.orders"
    } else {
        "correct the SQL; it is DuckDB's dialect"
    };
    Finding::new(Rule::Syntax, model.sql_place(offset.unwrap_or(0)), message, help)
}

fn several(model: &Model, count: usize) -> Option<Finding> {
    let message = format!("{count} SQL statements, a model is exactly one");
    let help = "keep exactly one SELECT in the file";
    (count > 1).then(|| Finding::new(Rule::MultiStatement, model.sql_place(0), message, help))
}

/// A run has no values for parameters.
fn parameter(model: &Model, tree: &SyntaxTree) -> Option<Finding> {
    if !tree.has_parameters() {
        return None;
    }
    let code = Code::new(model.sql());
    let at = (0..code.len()).find(|&at| code.is(at, &["$", "?"])).map_or(0, |at| code.start(at));
    let message = "a parameter has no value: nothing calls a model with values";
    let help = "write the value, or a variable of config/variables/: getvariable('name')";
    Some(Finding::new(Rule::Parameter, model.sql_place(at), message, help))
}

fn no_select(model: &Model) -> Option<Finding> {
    let first = Code::new(model.sql()).text(0).to_uppercase();
    let help = "write only the SELECT: the path of the file gives the table its name";
    let finding =
        || Finding::new(Rule::NoSelect, model.sql_place(0), format!("a model is one SELECT, not {first}"), help);
    (!SELECTS.contains(&first.as_str())).then(finding)
}

/// A SELECT without a tree: a run warns, and can tell neither what is new nor where columns come from.
pub(crate) fn without_tree(model: &Model, why: &str) -> Finding {
    let message = format!("AST serialize failed, so this model cannot be checked: {why}");
    let help = "name the values of a PIVOT: `PIVOT t ON c IN ('a', 'b') USING sum(v)`";
    Finding::new(Rule::NoTree, model.sql_place(0), message, help)
}

/// A schema of the name of an attached database: the engine could not tell `name.table` apart.
pub fn check_schema<'a>(model: &Model, databases: impl IntoIterator<Item = &'a String>) -> Option<Finding> {
    let schema = &model.target.schema;
    let is_taken = databases.into_iter().any(|name| name.eq_ignore_ascii_case(schema));
    is_taken.then(|| {
        let message = format!("schema `{schema}` has the name of an attached database");
        Finding::new(Rule::BadPath, model.place(0..0), message, "rename the folder below models/")
    })
}
