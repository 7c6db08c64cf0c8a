//! What a function is called with: the arguments of SQL, and what the runtime passes (chapter 03 §3.4 *Call*).

use engine::{Connection, EngineError, EngineParser, Value};
use fetch::columns_argument;
use lib_functions::HostValue;
use model::{Incremental, Model, SyntaxTree};
use query::{FetchArgument, FetchQuery};
use types::{Code, RunType};
use validate::{bad_argument, no_tree};

use super::checks::FetchPlan;
use crate::cursor::newest_value;
use crate::planning::PlannedModel;
use crate::task::Task;
use crate::{RunError, Session};

/// Longest text of an argument.
const MOST_BYTES: usize = 16 << 20;

/// All arguments by name.
pub(crate) fn arguments(
    session: &Session,
    planned: &PlannedModel,
    plan: &FetchPlan,
    task: &Task,
    table_exists: bool,
) -> Result<Vec<(String, HostValue)>, RunError> {
    let mut all = plan.arguments.clone();
    let incremental = planned.model.incremental.as_ref();
    let is_backfill = !table_exists || task.decision.run_type == RunType::Backfill;
    let initial = incremental.map_or("1970-01-01T00:00:00Z", |incremental| &incremental.initial);
    let newest = match incremental.filter(|_| !is_backfill) {
        None => None,
        Some(incremental) => newest(session, planned, incremental)?,
    };
    let text = |text: &str| HostValue::Text(text.to_owned());
    all.extend([
        ("columns".to_owned(), columns_argument(&plan.columns)),
        ("target".to_owned(), HostValue::Text(planned.target().to_string())),
        ("is_backfill".to_owned(), HostValue::Bool(is_backfill)),
        ("cursor".to_owned(), text(incremental.map_or("", |incremental| &incremental.column.value))),
        ("initial_value".to_owned(), text(initial)),
        ("last_value".to_owned(), text(newest.as_deref().unwrap_or(initial))),
        ("last_run".to_owned(), text(task.last.as_ref().map_or("", |last| &last.end_time))),
    ]);
    Ok(all)
}

/// The newest value of the cursor in the table.
fn newest(session: &Session, planned: &PlannedModel, incremental: &Incremental) -> Result<Option<String>, RunError> {
    let (column, table) = (&incremental.column, planned.target().qualified(&session.lake));
    match newest_value(&session.connection, &column.value, &table) {
        Ok(value) => Ok(value),
        Err(error) if error.is_statement_fault() => Err(RunError::Refused {
            code: Code::Sql,
            message: format!(
                "the newest `{}` of {} cannot be read: {}",
                column.value,
                planned.target(),
                error.cleaned()
            ),
            help: "name a column of the table, one that has a greatest value; or rebuild the table with --full-refresh"
                .into(),
            place: Box::new(planned.model.place(column.span.clone())),
        }),
        Err(error) => Err(error.into()),
    }
}

/// The values of the arguments that stand in the SQL, evaluated once. `null` is the tree of `SELECT NULL`.
pub(crate) fn written_arguments(
    connection: &Connection,
    model: &Model,
    query: &FetchQuery,
    null: &SyntaxTree,
) -> Result<Vec<(String, HostValue)>, RunError> {
    if query.arguments.is_empty() {
        return Ok(Vec::new());
    }
    let tree = query.arguments_query(null).ok_or_else(no_tree)?;
    let values = match values(connection, &tree, query.arguments.len()) {
        Ok(values) => values,
        Err(Fault::Engine(error)) if !error.is_statement_fault() => return Err(error.into()),
        Err(fault) => return Err(refused(connection, model, query, null, fault)),
    };
    Ok(query.arguments.iter().map(|argument| argument.parameter.clone()).zip(values).collect())
}

/// Why there are no values.
enum Fault {
    Engine(EngineError),
    /// There is one, but none that a function could mean.
    Value(String),
}

impl From<EngineError> for Fault {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

/// Each is the text of its value; those that hold others are JSON.
fn values(connection: &Connection, tree: &SyntaxTree, count: usize) -> Result<Vec<HostValue>, Fault> {
    let statement = EngineParser(connection).statement(tree)?;
    // Without a row, only an aggregate has a value.
    let rows = connection.query_value(&format!("SELECT count(*) FROM ({statement} WHERE false)"))?;
    if rows.as_i64() != Some(0) {
        return Err(Fault::Value("it is an aggregate, which needs rows".into()));
    }
    let names: Vec<String> = (0..count).map(|at| format!("a{at}")).collect();
    let text = |name: &String| {
        let is_nested = format!("regexp_matches(typeof({name}), '^(STRUCT|MAP|UNION)\\(|\\]$')");
        format!(
            "CASE WHEN {is_nested} THEN to_json({name})::VARCHAR ELSE {name}::VARCHAR END AS {name}, \
             CASE WHEN {is_nested} THEN 'nested' WHEN typeof({name}) IN ('FLOAT', 'DOUBLE') THEN 'float' END AS k{name}"
        )
    };
    // What is too long does not leave the engine.
    let bounded = |name: &String| {
        let is_long = format!("strlen({name}) > {MOST_BYTES}");
        format!("CASE WHEN {is_long} THEN NULL ELSE {name} END, CASE WHEN {is_long} THEN 'long' ELSE k{name} END")
    };
    let list = |column: &dyn Fn(&String) -> String| names.iter().map(column).collect::<Vec<_>>().join(", ");
    let texts = format!("SELECT {} FROM ({statement}) AS v({})", list(&text), names.join(", "));
    let sql = format!("WITH t AS MATERIALIZED ({texts}) SELECT {} FROM t", list(&bounded));
    let mut rows: Vec<Vec<Value>> = connection.query(&sql)?.into_values().collect();
    let row = match rows.len() {
        1 => rows.swap_remove(0),
        many => return Err(Fault::Value(format!("it gives {many} values, not one"))),
    };
    row.chunks(2).map(value).collect()
}

fn value(cell: &[Value]) -> Result<HostValue, Fault> {
    let [value, form] = cell else { return Ok(HostValue::None) };
    match (value.as_text(), form.as_text()) {
        (_, Some("long")) => Err(Fault::Value(format!("it is longer than {} MiB as text", MOST_BYTES >> 20))),
        // 1/0 is no error of the engine.
        (Some(text @ ("inf" | "-inf" | "nan")), Some("float")) => {
            Err(Fault::Value(format!("its value is {text}, which is no number; was something divided by zero?")))
        }
        (Some(text), Some("nested")) if holds_no_number(text) => {
            Err(Fault::Value("it holds NaN or infinity, which are no numbers of JSON".into()))
        }
        (text, _) => Ok(HostValue::text(text)),
    }
}

/// Whether `NaN` or `Infinity` stands in what else is JSON: no other capital letter stands outside of its strings but
/// that of an exponent.
fn holds_no_number(json: &str) -> bool {
    let (mut is_inside, mut is_escaped) = (false, false);
    json.bytes().any(|byte| {
        let was_escaped = is_escaped;
        is_escaped = is_inside && byte == b'\\' && !was_escaped;
        is_inside ^= byte == b'"' && !was_escaped;
        !is_inside && matches!(byte, b'N' | b'I')
    })
}

/// The error of the argument that is at fault, at its place.
fn refused(connection: &Connection, model: &Model, query: &FetchQuery, null: &SyntaxTree, fault: Fault) -> RunError {
    let of = |argument: &FetchArgument| values(connection, &argument.value_query(null)?, 1).err();
    let found = query.arguments.iter().find_map(|argument| of(argument).map(|fault| (argument, fault)));
    let (argument, fault) = found.map_or((None, fault), |(argument, fault)| (Some(argument), fault));
    let cause = match fault {
        Fault::Engine(error) => error.cleaned(),
        Fault::Value(why) => why,
    };
    RunError::refused(&bad_argument(model, query, argument, &cause))
}

#[cfg(test)]
mod tests {
    use super::holds_no_number;

    #[test]
    fn what_is_no_number_is_found_outside_of_strings_only() {
        for (json, expected) in [
            ("[1.0,NaN]", true),
            ("{\"a\":-Infinity}", true),
            (r#"{"NaN":"Infinity"}"#, false),
            (r#"["a\"NaN","\\",1E5,null,true]"#, false),
            (r#"["\\",NaN]"#, true),
        ] {
            assert_eq!(holds_no_number(json), expected, "{json}");
        }
    }
}
