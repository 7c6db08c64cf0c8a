//! What a function is called with: the arguments of SQL, and what the runtime passes (chapter 03 §3.4 *Call*).

use engine::{Connection, EngineError, EngineParser};
use fetch::columns_argument;
use lib_functions::HostValue;
use types::{RunType, quote};

use super::checks::FetchPlan;
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
    let connection = &session.connection;
    let mut all: Vec<(String, HostValue)> = written(connection, plan)?;
    let incremental = planned.model.incremental.as_ref();
    let is_backfill = !table_exists || task.decision.run_type == RunType::Backfill;
    let initial = incremental.map_or("1970-01-01T00:00:00Z", |incremental| &incremental.initial);
    let newest = match incremental.filter(|_| !is_backfill) {
        None => None,
        Some(incremental) => {
            let (column, table) = (quote(&incremental.column.value), planned.target().qualified(&session.lake));
            connection.query_value(&format!("SELECT max({column})::VARCHAR FROM {table}"))?.into_text()
        }
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

/// The arguments that stand in the SQL: each is the text of its value, those that hold others are JSON.
fn written(connection: &Connection, plan: &FetchPlan) -> Result<Vec<(String, HostValue)>, EngineError> {
    let parser = EngineParser(connection);
    let Ok(null) = parser.complete_tree("SELECT NULL") else { return Ok(Vec::new()) };
    let Some(tree) = plan.query.arguments_query(&null) else { return Ok(Vec::new()) };
    let names: Vec<String> = (0..plan.query.arguments.len()).map(|at| format!("a{at}")).collect();
    let text = |name: &String| {
        format!(
            "CASE WHEN regexp_matches(typeof({name}), '^(STRUCT|MAP|UNION)\\(|\\]$') THEN to_json({name})::VARCHAR \
             ELSE {name}::VARCHAR END"
        )
    };
    let texts: Vec<String> = names.iter().map(text).collect();
    let sql = format!("SELECT {} FROM ({}) AS v({})", texts.join(", "), parser.statement(&tree)?, names.join(", "));
    let row = connection.query(&sql)?.into_values().next().unwrap_or_default();
    let values = row.into_iter().map(|value| HostValue::text(value.into_text()));
    Ok(plan.query.arguments.iter().map(|argument| argument.parameter.clone()).zip(values).collect())
}
