//! The last commits of all models: those of the registry, and of the history what the registry does not have. Another tool
//! may have written any of them.

use engine::{LakeFacts, Value as SqlValue};
use serde_json::Value;

use super::select::Models;
use super::{LineageModel, RunError, Session};

/// The models that have committed, by lower-case name.
pub(super) fn read(session: &Session, facts: &LakeFacts, warnings: &mut Vec<String>) -> Result<Models, RunError> {
    let mut models = Models::new();
    for (key, row) in &facts.commits {
        models.insert(key.clone(), model(&row.target, &row.commit_info, warnings));
    }
    // A tool that commits for a model without our registry is believed, as by `run`.
    let sql = format!(
        "SELECT lower(model), arg_max(model, snapshot_id), arg_max(info, snapshot_id) FROM (SELECT snapshot_id, \
         commit_extra_info AS info, json_extract_string(CASE WHEN json_valid(commit_extra_info) \
         THEN commit_extra_info END, '$.model') AS model FROM {}.ducklake_snapshot_changes) \
         WHERE model IS NOT NULL GROUP BY lower(model)",
        session.metadata
    );
    for row in session.connection.query(&sql)?.into_values() {
        let [SqlValue::Text(key), SqlValue::Text(name), SqlValue::Text(info)] = &row[..] else { continue };
        if !models.contains_key(key) {
            models.insert(key.clone(), model(name, info, warnings));
        }
    }
    Ok(models)
}

/// What a commit tells; what it does not tell is empty.
fn model(target: &str, info: &str, warnings: &mut Vec<String>) -> LineageModel {
    let told: Value = serde_json::from_str(info).unwrap_or_else(|error| {
        warnings.push(format!("the last commit of {target} cannot be read: {error}"));
        Value::Null
    });
    let spelled = told["model"].as_str().filter(|name| name.to_lowercase() == target.to_lowercase());
    let list = |key: &str| told[key].as_array().map_or(&[][..], Vec::as_slice);
    let mut column_lineage = Vec::new();
    for entry in list("column_lineage") {
        match serde_json::from_value(entry.clone()) {
            Ok(entry) => column_lineage.push(entry),
            Err(error) => warnings.push(format!("the lineage in the last commit of {target} cannot be read: {error}")),
        }
    }
    LineageModel {
        name: spelled.unwrap_or(target).to_owned(),
        columns: list("columns").iter().filter_map(|column| column["name"].as_str().map(str::to_owned)).collect(),
        dependencies: list("depends").iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
        column_lineage,
    }
}

#[cfg(test)]
mod tests {
    use super::model;

    #[test]
    fn what_a_commit_tells_is_taken_as_far_as_it_goes() {
        let mut warnings = Vec::new();
        let info = r#"{"model":"RAW.a","columns":[{"name":"x","type":"INT"},{"type":"INT"},7],"depends":["raw.b",1,null],
            "column_lineage":[{"column":"x","sources":[{"table":"raw.b","column":"y","transformation":"MAGIC"}]},
            {"column":"z","sources":[]}]}"#;
        let read = model("raw.a", info, &mut warnings);
        assert_eq!(
            (read.name.as_str(), read.columns, read.dependencies),
            ("RAW.a", vec!["x".into()], vec!["raw.b".into()])
        );
        assert_eq!(read.column_lineage.len(), 1);
        assert!(warnings.len() == 1 && warnings[0].contains("raw.a") && warnings[0].contains("MAGIC"), "{warnings:?}");
        for odd in ["{broken", "", "null", "[1]", r#"{"depends":{},"columns":"x","model":"other.m"}"#] {
            let read = model("raw.a", odd, &mut warnings);
            assert_eq!((read.name.as_str(), read.columns.len(), read.dependencies.len()), ("raw.a", 0, 0), "{odd}");
        }
        assert_eq!(warnings.len(), 3);
    }
}
