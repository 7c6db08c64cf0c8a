//! One entry of the list of shipped checks, and the SQL macro that it becomes.

use types::literal;

use crate::Stage;
use crate::template::{expression, prose};

/// A shipped check. The macro, its documentation and its help all come from here.
#[derive(Debug)]
pub struct Check {
    /// When it runs.
    pub stage: Stage,
    /// Its name in directives.
    pub name: &'static str,
    /// What it takes, behind the table.
    pub params: &'static [Param],
    /// When it has a finding.
    pub fails: &'static str,
    /// The message of a finding: a template over the parameters and the columns of its query.
    pub(crate) message: &'static str,
    /// What it looks at.
    pub(crate) query: Query,
    /// A directive's value that uses it.
    pub example: &'static str,
}

impl Check {
    /// Whether it fails where there are no rows, though nothing is wrong with an incremental run that found none.
    pub fn needs_rows(&self) -> bool {
        self.stage == Stage::Constraint && ["at_least_one", "not_constant", "distinct_count"].contains(&self.name)
    }

    /// Whether it compares the table with what it was at the model's previous commit.
    pub fn compares(&self) -> bool {
        matches!(self.query, Query::Built { expression, .. } if expression.contains("ondatra_checks_delta("))
    }
}

/// A parameter of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// What it may be, and how it enters SQL.
    pub kind: ParamKind,
}

/// What an argument may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamKind {
    /// A column, or another SQL expression over the table.
    Expression,
    /// Several of these, separated by commas.
    Expressions,
    /// One of the six comparisons.
    Operator,
    /// A number, or the text of what the column is compared with.
    Value,
    /// A text.
    Text,
    /// A span of time: `24h` or any text that is one to the engine.
    Age,
    /// A table: its name, or a query in brackets.
    Table,
    /// The name of a column.
    Name,
    /// An SQL type.
    Type,
    /// Words for the message.
    Label,
}

/// What a check looks at, as templates of SQL text.
#[derive(Debug)]
pub(crate) enum Query {
    /// Rows that must not be there: what stands behind `SELECT * FROM`. Their number is `{violations}`.
    Rows(&'static str),
    /// One value of the whole table, `{actual}`, and the test that it has to pass.
    Value { value: &'static str, passes: &'static str, null: Null },
    /// Any query, with the condition under which one of its rows is a finding; and the rows at fault, like above.
    Select { sql: &'static str, finds: &'static str, rows: Option<&'static str> },
    /// An SQL expression over the parameters that builds the query.
    Built { expression: &'static str, finds: &'static str },
}

/// What a test that gives NULL means: there is no value to test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Null {
    Fails,
    Passes,
}

impl Check {
    /// The name of its macro.
    pub fn macro_name(&self) -> String {
        self.stage.macro_name(self.name)
    }

    /// `name(parameter, …)`.
    pub fn signature(&self) -> String {
        let params: Vec<&str> = self.params.iter().map(|param| param.name).collect();
        format!("{}({})", self.name, params.join(", "))
    }

    /// The message for people, with the names of parameters, and dots for what was found.
    pub fn message(&self) -> String {
        prose(self.message, |name| self.params.iter().any(|param| param.name == name))
    }

    /// Whether the rows at fault can be told.
    pub fn has_rows(&self) -> bool {
        self.rows_template().is_some()
    }

    /// The relation (for FROM) of the rows at fault in the table that the SQL expression `table` names;
    /// `arguments` are SQL expressions, too. `None` if there are none to tell, or an argument is missing.
    pub fn rows(&self, table: &str, arguments: &[String]) -> Option<String> {
        let from = self.rows_template()?;
        if arguments.len() != self.params.len() {
            return None;
        }
        let argument = |name: &str| {
            let at = self.params.iter().position(|param| param.name == name);
            at.map_or_else(|| table.to_owned(), |at| format!("({})", arguments[at]))
        };
        let text = expression(from, |name, format| self.sql_hole(name, format, &argument(name)));
        Some(format!("system.main.query('SELECT * FROM ' || {text})"))
    }

    /// The statement that makes its macro.
    pub(crate) fn create(&self) -> String {
        let params: String = self.params.iter().map(|param| format!(", {}", param.name)).collect();
        format!(
            "CREATE MACRO memory.main.{}(t{params}) AS TABLE\nSELECT {} AS message\nFROM system.main.query({})\nWHERE {};",
            self.macro_name(),
            self.message_expression(),
            self.query_expression(),
            self.finds()
        )
    }

    fn rows_template(&self) -> Option<&'static str> {
        match self.query {
            Query::Rows(from) => Some(from),
            Query::Select { rows, .. } => rows,
            Query::Value { .. } | Query::Built { .. } => None,
        }
    }

    fn operator(&self) -> Option<&'static str> {
        self.params.iter().find(|param| param.kind == ParamKind::Operator).map(|param| param.name)
    }

    fn message_expression(&self) -> String {
        let message = expression(self.message, |name, format| match (name, format) {
            ("t", _) => "replace(t, '\"', '')".to_owned(),
            (_, "percent") => format!("printf('%.4g', {name}::DOUBLE)"),
            (_, "two digits") => format!("printf('%.2f', {name}::DOUBLE)"),
            _ if self.params.iter().any(|param| param.name == name) => {
                format!("memory.main.ondatra_checks_show({name})")
            }
            _ => format!("memory.main.ondatra_checks_found({name})"),
        });
        let Some(op) = self.operator() else { return message };
        let what = if self.stage == Stage::Warning { "warning" } else { "failed" };
        let unknown = literal(&format!("{} {what}: unknown operator ", self.name));
        format!(
            "CASE WHEN memory.main.ondatra_checks_is_operator({op}) THEN {message} \
             ELSE {unknown} || memory.main.ondatra_checks_show({op}) || ', use one of >=, <=, >, <, =, !=' END"
        )
    }

    fn query_expression(&self) -> String {
        let render = |template: &str| expression(template, |name, format| self.sql_hole(name, format, name));
        match self.query {
            Query::Rows(from) => render(&format!("SELECT count(*) AS violations FROM (SELECT * FROM {from})")),
            Query::Value { value, passes, .. } => {
                render(&format!("SELECT actual, {passes} AS passes FROM (SELECT {value} AS actual FROM {{t}})"))
            }
            Query::Select { sql, .. } => render(sql),
            Query::Built { expression, .. } => expression.to_owned(),
        }
    }

    /// The condition under which a row of the query is a finding. Whatever an unknown operator compared is none, and
    /// the operator is one.
    fn finds(&self) -> String {
        let finds = match self.query {
            Query::Rows(_) => "violations > 0",
            Query::Value { null: Null::Fails, .. } => "passes IS NOT TRUE",
            Query::Value { null: Null::Passes, .. } => "NOT passes",
            Query::Select { finds, .. } | Query::Built { finds, .. } => finds,
        };
        match self.operator() {
            Some(op) => format!("{finds} OR NOT memory.main.ondatra_checks_is_operator({op})"),
            None => finds.to_owned(),
        }
    }

    /// A hole of SQL text: by its parameter's kind it stays what it is, whatever it holds. Expressions stand in brackets
    /// and were looked at (`contained.rs`), values are literals.
    fn sql_hole(&self, name: &str, format: &str, value: &str) -> String {
        let kind = self.params.iter().find(|param| param.name == name).map(|param| param.kind);
        match kind {
            _ if format == "step" => format!("memory.main.ondatra_checks_step({value})"),
            _ if format == "text" => format!("memory.main.ondatra_checks_text({value})"),
            Some(ParamKind::Expression) => format!("'(' || {value} || ')'"),
            Some(ParamKind::Operator) => format!("memory.main.ondatra_checks_operator({value})"),
            Some(ParamKind::Value) => format!("memory.main.ondatra_checks_literal({value})"),
            Some(ParamKind::Text | ParamKind::Age | ParamKind::Label) => {
                format!("memory.main.ondatra_checks_text({value})")
            }
            Some(ParamKind::Name) => {
                format!("memory.main.ondatra_checks_text(memory.main.ondatra_checks_unquote({value}))")
            }
            Some(ParamKind::Expressions | ParamKind::Table | ParamKind::Type) | None => value.to_owned(),
        }
    }
}
