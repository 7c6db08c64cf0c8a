//! Which fetches are in the lake: told by the lake itself, in the transaction that wrote their rows.

use std::collections::{BTreeMap, BTreeSet};

use engine::{Connection, EngineError, LakeFacts};
use types::{literal, quote};

use fetch::Staged;

/// The table in the lake's `main` schema.
const TABLE: &str = "_ondatra_acks";

/// Fetches that are in the lake, by lower-case target.
pub(crate) fn acknowledged(
    connection: &Connection,
    lake: &str,
    facts: &LakeFacts,
) -> Result<BTreeMap<String, BTreeSet<String>>, EngineError> {
    let mut acks: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    if !facts.tables.contains_key(&format!("main.{TABLE}")) {
        return Ok(acks);
    }
    for mut row in connection.query(&format!("SELECT target, claim_id FROM {}", table(lake)))?.into_values() {
        let claim = row.swap_remove(1).into_text().unwrap_or_default();
        let target = row.swap_remove(0).into_text().unwrap_or_default();
        acks.entry(target.to_lowercase()).or_default().insert(claim);
    }
    Ok(acks)
}

/// Puts the acknowledgment into the transaction that writes the rows. Those of fetches whose staged rows are gone go in
/// the same one; `present` are the fetches that the state still has, if any of the target was acknowledged before.
pub(crate) fn acknowledge(
    connection: &Connection,
    lake: &str,
    target: &str,
    staged: &Staged,
    present: Option<&[String]>,
) -> Result<(), EngineError> {
    let table = table(lake);
    connection.execute(&format!(
        "CREATE TABLE IF NOT EXISTS {table} (claim_id VARCHAR, target VARCHAR, created_at TIMESTAMPTZ, row_count BIGINT)"
    ))?;
    if let Some(present) = present {
        let present: Vec<String> = present.iter().chain([&String::new()]).map(|claim| literal(claim)).collect();
        connection.execute(&format!(
            "DELETE FROM {table} WHERE lower(target) = {} AND claim_id NOT IN ({})",
            literal(&target.to_lowercase()),
            present.join(", ")
        ))?;
    }
    connection.execute(&format!(
        "INSERT INTO {table} VALUES ({}, {}, now(), {})",
        literal(&staged.lease.claim_id),
        literal(target),
        staged.rows
    ))
}

fn table(lake: &str) -> String {
    format!("{}.main.{}", quote(lake), quote(TABLE))
}
