//! What a commit says about the run that made it (chapter 02 §7.2).

use serde::{Deserialize, Serialize};

/// The JSON in `commit_extra_info` of a model's snapshot. Field order is the order of the keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitInfo {
    /// Target of the model.
    pub model: String,
    /// Kind it was written as.
    pub kind: String,
    /// Run type; never `skip`.
    pub run_type: String,
    /// Why, as the run's line told it.
    #[serde(default)]
    pub run_reason: String,
    /// Hash of the definition, 64 hex digits.
    pub sql_hash: String,
    /// Hash of the output's names and types, 32 hex digits.
    #[serde(default)]
    pub schema_hash: String,
    /// The query's output columns.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// Where each output column comes from; empty where there is no syntax tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub column_lineage: Vec<ColumnLineage>,
    /// The key columns it was written by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<String>,
    /// The columns that were masked, with the functions that masked them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masks: Vec<ColumnMask>,
    /// What the query read. Kept as JSON, because a commit of another tool may hold anything here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends: Option<serde_json::Value>,
    /// Rows of the result.
    #[serde(default)]
    pub rows_affected: i64,
    /// The lake snapshot at which the run read its sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_snapshot: Option<i64>,
    /// Id shared by all models of one run.
    #[serde(default)]
    pub dag_run_id: String,
    /// Path of the model's file, relative to the project.
    #[serde(default)]
    pub source_file: String,
    /// Start of the model's run, RFC 3339, UTC, seconds.
    #[serde(default)]
    pub start_time: String,
    /// End of the model's run, RFC 3339, UTC, seconds.
    #[serde(default)]
    pub end_time: String,
    /// Duration in milliseconds.
    #[serde(default)]
    pub duration_ms: i64,
    /// Version of the engine that wrote it.
    #[serde(default)]
    pub duckdb_version: String,
    /// The steps of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Commit of the project's repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_commit: Option<String>,
    /// Branch of the project's repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// Remote URL of the project's repository, without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_repo_url: Option<String>,
}

/// One output column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// Name as the query spells it.
    pub name: String,
    /// DuckDB type.
    #[serde(rename = "type")]
    pub type_name: String,
}

/// A masked column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnMask {
    /// Name as the directive spells it.
    pub column: String,
    /// The function that masked it.
    pub function: String,
}

/// Where one output column comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnLineage {
    /// Name as the query spells it.
    pub column: String,
    /// Columns of physical tables that it is made of; none for literals and for what is not known.
    pub sources: Vec<LineageSource>,
}

/// One column that another is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineageSource {
    /// The table, named as in `depends`.
    pub table: String,
    /// The column; `*` for its rows.
    pub column: String,
    /// The outermost step between the two.
    pub transformation: Transformation,
    /// The function or operator, if that step is an aggregate or a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
}

/// What is done to a column on its way into another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Transformation {
    /// Nothing.
    Identity,
    /// One value is made of those of many rows.
    Aggregation,
    /// It is calculated with.
    Arithmetic,
    /// It chooses, or is chosen.
    Conditional,
    /// Its type is changed.
    Cast,
    /// Anything else.
    Function,
}

/// One step of a model's run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What was done.
    pub name: String,
    /// Duration in milliseconds.
    pub duration_ms: i64,
    /// How it ended.
    pub status: StepStatus,
}

/// How a step ended. A failed step leaves no commit, so commits hold only the first two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    /// Done.
    Ok,
    /// Not needed.
    Skip,
    /// Failed.
    Error,
}

#[cfg(test)]
mod tests {
    use super::{ColumnLineage, LineageSource, Transformation};

    #[test]
    fn lineage_is_written_as_promised() {
        let source = |transformation, function: Option<&str>| LineageSource {
            table: "raw.t".into(),
            column: "a".into(),
            transformation,
            function: function.map(str::to_owned),
        };
        let sources = vec![source(Transformation::Identity, None), source(Transformation::Aggregation, Some("sum"))];
        let lineage = ColumnLineage { column: "x".into(), sources };
        let text = serde_json::to_string(&lineage).unwrap();
        let expected = r#"{"column":"x","sources":[{"table":"raw.t","column":"a","transformation":"IDENTITY"},{"table":"raw.t","column":"a","transformation":"AGGREGATION","function":"sum"}]}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<ColumnLineage>(&text).unwrap(), lineage);
    }
}
