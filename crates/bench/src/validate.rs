//! Validating a project costs little more than what only the engine can do: giving the syntax trees of its SQL.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::Database;
use types::literal;

use crate::measure::{Figure, time};
use crate::workspace::Project;

const MODELS: usize = 1_000;

/// A project of raw, staging and mart models that read each other; and their files.
fn project() -> (Project, Vec<PathBuf>) {
    let project = Project::new();
    let third = MODELS / 3;
    let mut files = Vec::new();
    for at in 0..MODELS {
        let (path, sql) = match at / third {
            0 => (format!("models/raw/r{at}.sql"), raw(at)),
            1 => (format!("models/staging/s{at}.sql"), staging(at, at - third)),
            _ => (format!("models/mart/m{at}.sql"), mart(third + at % third, at % third)),
        };
        project.write(&path, &sql);
        files.push(project.dir.path().join(path));
    }
    (project, files)
}

fn raw(at: usize) -> String {
    format!(
        "-- @kind: append\n-- @description: orders of branch {at}\n-- @incremental: updated_at\n\
         SELECT id, customer_id, branch, status, amount, currency, created_at, updated_at\n\
         FROM source.orders\nWHERE branch = {at} AND updated_at > getvariable('incr_last_value')"
    )
}

fn staging(at: usize, raw: usize) -> String {
    format!(
        "-- @kind: merge\n-- @unique_key: id\n-- @column: customer = who ordered | PII\n\
         WITH newest AS (\n  SELECT *, row_number() OVER (PARTITION BY id ORDER BY updated_at DESC) AS n\n  \
         FROM raw.r{raw}\n)\n\
         SELECT id, coalesce(trim(customer_id), 'unknown') AS customer, branch + {at} AS branch,\n  \
         CASE WHEN status IN ('paid', 'sent') THEN 'done' WHEN status = 'new' THEN 'open' END AS status,\n  \
         amount::DECIMAL(18, 2) AS amount, upper(currency) AS currency, created_at::DATE AS day\n\
         FROM newest\nWHERE n = 1 AND amount IS NOT NULL"
    )
}

fn mart(staging: usize, raw: usize) -> String {
    format!(
        "-- @kind: table\n\
         SELECT s.day, s.currency, count(*) AS orders, sum(s.amount) AS amount, avg(s.amount) AS mean,\n  \
         count(*) FILTER (WHERE s.status = 'open') AS open, max(r.updated_at) AS newest\n\
         FROM staging.s{staging} AS s\nLEFT JOIN raw.r{raw} AS r ON r.id = s.id AND r.branch <> s.branch\n\
         GROUP BY ALL\nHAVING count(*) > (SELECT min(amount) FROM staging.s{staging})\nORDER BY s.day"
    )
}

/// What validating cannot do without: an engine, the files, the trees as text.
fn floor(files: &[PathBuf]) {
    let connection = Arc::new(Database::open(&[]).unwrap()).connect().unwrap();
    let texts: Vec<String> = files.iter().map(|file| literal(&fs::read_to_string(file).unwrap())).collect();
    let sql = format!(
        "SELECT json_serialize_sql(s, skip_null := true, skip_empty := true, skip_default := true)::VARCHAR \
         FROM (SELECT unnest([{}]) AS s)",
        texts.join(",")
    );
    let trees = connection.query(&sql).unwrap().into_values().filter_map(|mut row| row.swap_remove(0).into_text());
    assert_eq!(trees.filter(|tree| tree.contains("SELECT_NODE")).count(), files.len());
}

pub fn figure(binary: &Path) -> Figure {
    let (project, files) = project();
    let what = "validate 1,000 models / reading and serializing their SQL";
    let validate = || project.command(binary, &["validate"]);
    Figure::measure(what, 4.5, |_| time(validate), |_| time(|| floor(&files)))
}
