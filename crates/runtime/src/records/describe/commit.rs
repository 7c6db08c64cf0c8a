//! What the last commit of a model told of its run. Another tool may have written it, so every part is optional.

use engine::{TARGET_REGISTRY, Value as SqlValue};
use serde_json::Value;
use types::{Target, quote};

use super::{DescribedColumn, DescribedStep, Description, unknown_kind};
use crate::{RunError, Session};

/// The JSON of a commit.
pub(super) struct Told {
    told: Value,
    /// The file that it names.
    pub source_file: Option<String>,
}

impl Told {
    /// Reads it; what is no JSON tells nothing.
    pub(super) fn read(info: &str, warnings: &mut Vec<String>) -> Self {
        let told: Value = serde_json::from_str(info).unwrap_or_else(|error| {
            warnings.push(format!("its last commit cannot be read: {error}"));
            Value::Null
        });
        Self { source_file: text(&told["source_file"]), told }
    }

    /// Fills in what it tells.
    pub(super) fn fill(&self, description: &mut Description, target: &Target) {
        let told = &self.told;
        // The commit's own spelling, unless it is of another model.
        let spelled = text(&told["model"]).filter(|model| model.to_lowercase() == target.key());
        description.target = spelled.unwrap_or_else(|| target.to_string());
        description.schema = description.target.split('.').next().unwrap_or_default().to_owned();
        description.kind = text(&told["kind"]).unwrap_or_else(unknown_kind);
        description.run_type = text(&told["run_type"]);
        description.source_file.clone_from(&self.source_file);
        description.dependencies = texts(&told["depends"]);
        description.columns = self.columns(&description.kind);
        description.steps = list(&told["steps"]).iter().filter_map(step).collect();
        description.duckdb_version = text(&told["duckdb_version"]);
        description.git_commit = text(&told["git_commit"]);
    }

    fn columns(&self, kind: &str) -> Vec<DescribedColumn> {
        let keys = texts(&self.told["keys"]);
        let word = if kind == "tracked" { "group_key" } else { "unique_key" };
        let column = |column: &Value| {
            let name = text(&column["name"])?;
            let is_key = keys.iter().any(|key| key.eq_ignore_ascii_case(&name));
            let type_name = text(&column["type"]).unwrap_or_default();
            let constraint = is_key.then(|| word.to_owned());
            Some(DescribedColumn { name, type_name, constraint, ..DescribedColumn::default() })
        };
        list(&self.told["columns"]).iter().filter_map(column).collect()
    }
}

fn step(step: &Value) -> Option<DescribedStep> {
    Some(DescribedStep {
        name: text(&step["name"])?,
        duration_ms: step["duration_ms"].as_i64().unwrap_or(0),
        status: text(&step["status"]).unwrap_or_default(),
    })
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn texts(value: &Value) -> Vec<String> {
    list(value).iter().filter_map(text).collect()
}

/// The models whose last commit depended on this one: one query, whatever their number.
pub(super) fn read_downstream(
    session: &Session,
    target: &Target,
    description: &mut Description,
) -> Result<(), RunError> {
    let has_registry = format!(
        "SELECT count(*) FROM {metadata}.ducklake_table t JOIN {metadata}.ducklake_schema s USING (schema_id) \
         WHERE t.end_snapshot IS NULL AND s.end_snapshot IS NULL AND s.schema_name = 'main' AND t.table_name = {}",
        types::literal(TARGET_REGISTRY),
        metadata = session.metadata
    );
    if session.connection.query_value(&has_registry)?.as_i64() == Some(0) {
        return Ok(());
    }
    let sql = format!(
        "SELECT target, json_extract_string(CASE WHEN json_valid(commit_info) THEN commit_info END, '$.depends[*]') \
         FROM {}.main.{} WHERE target IS NOT NULL ORDER BY lower(target)",
        quote(&session.lake),
        quote(TARGET_REGISTRY)
    );
    let key = target.key();
    let is_key = |name: &SqlValue| name.as_text().is_some_and(|name| name.to_lowercase() == key);
    for row in session.connection.query(&sql)?.into_values() {
        let [SqlValue::Text(other), SqlValue::List(depends)] = &row[..] else { continue };
        if other.to_lowercase() != key && depends.iter().any(is_key) {
            description.downstream.push(other.clone());
        }
    }
    Ok(())
}
