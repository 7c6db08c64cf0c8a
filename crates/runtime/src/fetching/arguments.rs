//! What a function is called with: the arguments of SQL, and what the runtime passes (chapter 03 §3.4 *Call*).

use engine::{Connection, EngineError, EngineParser, Value};
use fetch::columns_argument;
use lib_functions::HostValue;
use model::{Incremental, Model, SyntaxTree};
use query::{FetchArgument, FetchQuery};
use types::{Code, RunType, quote};

use super::checks::FetchPlan;
use super::declared::{no_tree, null_tree};
use crate::planning::PlannedModel;
use crate::task::Task;
use crate::{RunError, Session};

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
    let sql = format!("SELECT max({})::VARCHAR FROM {table}", quote(&column.value));
    match session.connection.query_value(&sql) {
        Ok(value) => Ok(value.into_text()),
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

/// The values of the arguments that stand in the SQL, evaluated once.
pub(crate) fn written_arguments(
    connection: &Connection,
    model: &Model,
    query: &FetchQuery,
) -> Result<Vec<(String, HostValue)>, RunError> {
    if query.arguments.is_empty() {
        return Ok(Vec::new());
    }
    let null = null_tree(connection)?;
    let tree = query.arguments_query(&null).ok_or_else(no_tree)?;
    let values = match values(connection, &tree, query.arguments.len()) {
        Ok(values) => values,
        Err(Fault::Engine(error)) if !error.is_statement_fault() => return Err(error.into()),
        Err(fault) => return Err(refused(connection, model, query, &null, fault)),
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
    let names: Vec<String> = (0..count).map(|at| format!("a{at}")).collect();
    let text = |name: &String| {
        format!(
            "CASE WHEN regexp_matches(typeof({name}), '^(STRUCT|MAP|UNION)\\(|\\]$') THEN to_json({name})::VARCHAR \
             ELSE {name}::VARCHAR END, typeof({name}) IN ('FLOAT', 'DOUBLE')"
        )
    };
    let texts: Vec<String> = names.iter().map(text).collect();
    let statement = EngineParser(connection).statement(tree)?;
    let sql = format!("SELECT {} FROM ({statement}) AS v({})", texts.join(", "), names.join(", "));
    let mut rows: Vec<Vec<Value>> = connection.query(&sql)?.into_values().collect();
    let row = match rows.len() {
        1 => rows.swap_remove(0),
        many => return Err(Fault::Value(format!("it gives {many} values, not one"))),
    };
    row.chunks(2).map(value).collect()
}

fn value(cell: &[Value]) -> Result<HostValue, Fault> {
    let [value, is_float] = cell else { return Ok(HostValue::None) };
    let text = value.as_text();
    match text {
        // 1/0 is no error of the engine.
        Some(text @ ("inf" | "-inf" | "nan")) if *is_float == Value::Bool(true) => {
            Err(Fault::Value(format!("its value is {text}, which is no number; was something divided by zero?")))
        }
        text => Ok(HostValue::text(text)),
    }
}

/// The error of the argument that is at fault, at its place.
fn refused(connection: &Connection, model: &Model, query: &FetchQuery, null: &SyntaxTree, fault: Fault) -> RunError {
    let of = |argument: &FetchArgument| values(connection, &argument.value_query(null)?, 1).err();
    let found = query.arguments.iter().find_map(|argument| of(argument).map(|fault| (argument, fault)));
    // One that fails only at times is told without its place.
    let (name, offset, fault) = match found {
        Some((argument, fault)) => (format!(" \"{}\"", argument.parameter), argument.offset, fault),
        None => ("s".to_owned(), query.function_offset, fault),
    };
    let cause = match fault {
        Fault::Engine(error) => error.cleaned(),
        Fault::Value(why) => why,
    };
    RunError::Refused {
        code: Code::FetchSql,
        message: format!("the argument{name} of \"{}\" cannot be evaluated: {cause}", query.function),
        help: "correct the expression: an argument is evaluated once, before the call; a text stands in single quotes"
            .into(),
        place: Box::new(model.sql_place(offset.unwrap_or(0))),
    }
}
