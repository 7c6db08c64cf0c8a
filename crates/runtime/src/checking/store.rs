//! `check --store-failures`: the rows at fault, as a table of the lake's schema `checks`.

use std::collections::BTreeSet;

use engine::{EngineError, LakeFacts};
use model::Model;
use types::{Code, Target, literal, quote};

use crate::checking::StageReport;
use crate::checking::directives::StageCalls;
use crate::checking::stage_run::Checked;
use crate::{RunError, Session};

/// The schema of these tables.
const SCHEMA: &str = "checks";
/// Where the rows are gathered, in the context of the stage that found them; they are written in one commit.
const GATHERED: &str = "temp.main.ondatra_failures";

/// Whether the table is one that an earlier check has written.
fn is_of_failures(session: &Session, table: &Target) -> Result<bool, EngineError> {
    let sql = format!(
        "SELECT count(*) FROM (DESCRIBE {}) WHERE column_name = '__ondatra_check'",
        table.qualified(&session.lake)
    );
    Ok(session.connection.query_value(&sql)?.as_i64() == Some(1))
}

/// The table of a model's failures.
fn table_of(model: &Model) -> Target {
    Target::new(SCHEMA, format!("{}__{}", model.target.schema, model.target.name))
}

/// Drops the rows at fault that were written while a column of the model was in clear, in the transaction that is open:
/// the messages beside them may quote it too.
pub(crate) fn drop_failures(session: &Session, model: &Model) -> Result<(), EngineError> {
    let table = table_of(model);
    // Not from the facts of the run: a check may have written them since.
    let sql = format!(
        "SELECT count(*) FROM duckdb_columns() WHERE database_name = {} AND schema_name = {} AND \
         lower(table_name) = lower({}) AND column_name = '__ondatra_check'",
        literal(&session.lake),
        literal(SCHEMA),
        literal(&table.name)
    );
    if session.connection.query_value(&sql)?.as_i64() == Some(0) {
        return Ok(());
    }
    session.connection.execute(&format!("DROP TABLE {}", table.qualified(&session.lake)))
}

/// The rows at fault of one model.
pub(crate) struct Failures<'a> {
    session: &'a Session,
    model: &'a Model,
    target: Target,
}

impl<'a> Failures<'a> {
    /// Begins with no row. An error if the table would be that of a model.
    pub fn begin(session: &'a Session, facts: &LakeFacts, model: &'a Model) -> Result<Self, RunError> {
        let target = table_of(model);
        let is_other = facts.tables.contains_key(&target.key()) && !is_of_failures(session, &target)?;
        if is_other || facts.commits.contains_key(&target.key()) || facts.views.contains_key(&target.key()) {
            return Err(RunError::Refused {
                code: Code::CheckTable,
                message: format!(
                    "the failures of {} would be written to {target}, which holds something else",
                    model.target
                ),
                help: format!("give what is there another name: {SCHEMA} is the schema of failures"),
                place: Box::new(model.place(0..0)),
            });
        }
        session.connection.execute(&format!(
            "CREATE OR REPLACE TEMP TABLE {GATHERED} AS SELECT ''::VARCHAR AS __ondatra_stage, \
             ''::VARCHAR AS __ondatra_check, ''::VARCHAR AS __ondatra_message, * FROM {} WHERE false",
            model.target.qualified(&session.lake)
        ))?;
        Ok(Self { session, model, target })
    }

    /// Adds the rows that the checks of a stage found. The rows of a check come once, however often the
    /// directive stands there.
    pub fn add(&self, checked: &Checked<'_>, stage: &StageCalls, report: &StageReport) -> Result<(), EngineError> {
        let mut added = BTreeSet::new();
        for call in stage.calls.iter().filter(|call| added.insert(&call.written.value)) {
            let finding = report.findings.iter().find(|finding| finding.check == call.written.value);
            let Some((finding, rows)) = finding.zip(call.rows(checked.table)) else { continue };
            self.session.connection.execute(&format!(
                "INSERT INTO {GATHERED} BY NAME SELECT {} AS __ondatra_stage, {} AS __ondatra_check, \
                 {} AS __ondatra_message, * FROM {rows}",
                literal(stage.stage.as_str()),
                literal(&finding.check),
                literal(&finding.message)
            ))?;
        }
        Ok(())
    }

    /// Writes them in one commit, in the place of those of an earlier check; gives the table and their number.
    pub fn write(self) -> Result<(Target, i64), EngineError> {
        let connection = &self.session.connection;
        let lake = quote(&self.session.lake);
        let count = connection.query_value(&format!("SELECT count(*) FROM {GATHERED}"))?.as_i64().unwrap_or_default();
        connection.execute("BEGIN")?;
        let written = connection.execute(&format!(
            "CREATE SCHEMA IF NOT EXISTS {lake}.{};\n\
             CREATE OR REPLACE TABLE {} AS FROM {GATHERED};\n\
             CALL {lake}.set_commit_message('ondatrasql', {});\n\
             COMMIT",
            quote(SCHEMA),
            self.target.qualified(&self.session.lake),
            literal(&format!("Failures of {}", self.model.target))
        ));
        if let Err(error) = written {
            // The first error tells; a rollback can only say that there is nothing left to undo.
            let _ = connection.execute("ROLLBACK");
            return Err(error);
        }
        connection.execute(&format!("DROP TABLE {GATHERED}"))?;
        Ok((self.target, count))
    }
}
