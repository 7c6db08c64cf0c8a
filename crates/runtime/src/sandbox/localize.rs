//! Makes a copy of a lake's metadata one of its own: what production wrote is found where it is, by absolute paths, and what
//! is written from now on goes to the sandbox's folder. No data file is copied.

use std::path::Path;

use engine::{Connection, EngineError};
use types::literal;

use super::source::Backend;

/// How the words of a kind of catalog are written.
struct Dialect {
    yes: &'static str,
    no: &'static str,
}

/// The statements, for the tables of `metadata` (quoted, with a dot behind it). Data files of production begin at `base`,
/// those of the sandbox at `data`.
///
/// The files of a table are found relative to the table, the table's relative to its schema, and so on. New files go where
/// the table is, so all tables are put below the sandbox's folder, and each file of theirs gets its whole path before.
fn statements(backend: &Backend, metadata: &str, base: &str, data: &Path) -> Vec<String> {
    let Dialect { yes, no } = match backend {
        Backend::Sqlite(_) => Dialect { yes: "1", no: "0" },
        Backend::Duckdb(_) | Backend::Postgres(_) => Dialect { yes: "true", no: "false" },
    };
    let base = literal(base);
    // A table that was renamed has a row for each name, all with one path.
    let places = format!(
        "SELECT t.table_id, min(CASE WHEN t.path_is_relative = {no} THEN t.path \
         WHEN s.path_is_relative = {no} THEN s.path || t.path ELSE {base} || s.path || t.path END) AS place \
         FROM {metadata}ducklake_table t JOIN {metadata}ducklake_schema s ON s.schema_id = t.schema_id \
         GROUP BY t.table_id"
    );
    let files = |table: &str| {
        format!(
            "UPDATE {metadata}{table} AS f SET path = p.place || f.path, path_is_relative = {no} \
             FROM ({places}) AS p WHERE p.table_id = f.table_id AND f.path_is_relative = {yes}"
        )
    };
    let own_place = |table: &str, name: &str, id: &str| {
        format!(
            "UPDATE {metadata}{table} SET path = '{name}_' || {id} || '/', path_is_relative = {yes} \
             WHERE path_is_relative = {no}"
        )
    };
    vec![
        files("ducklake_data_file"),
        files("ducklake_delete_file"),
        own_place("ducklake_schema", "schema", "schema_id"),
        own_place("ducklake_table", "table", "table_id"),
        format!(
            "UPDATE {metadata}ducklake_metadata SET value = {} WHERE key = 'data_path'",
            literal(&format!("{}/", data.display()))
        ),
        format!("DELETE FROM {metadata}ducklake_metadata WHERE key = 'data_inlining_row_limit'"),
    ]
}

/// Changes the fork's metadata. `attached` is where production's data files are by the ATTACH; by the metadata otherwise.
pub(super) fn localize(
    connection: &Connection,
    metadata: &str,
    backend: &Backend,
    (attached, root, data): (Option<&str>, &Path, &Path),
) -> Result<(), EngineError> {
    let base = if let Some(path) = attached {
        path.to_owned()
    } else {
        let sql = format!("SELECT max(value) FROM {metadata}.ducklake_metadata WHERE key = 'data_path'");
        connection.query_value(&sql)?.into_text().unwrap_or_default()
    };
    let base = absolute(&base, root);
    connection.execute("BEGIN")?;
    let done = statements(backend, &format!("{metadata}."), &base, data)
        .iter()
        .try_for_each(|statement| connection.execute(statement));
    match done {
        Ok(()) => connection.execute("COMMIT"),
        Err(error) => {
            // The first error is the one that tells.
            let _ = connection.execute("ROLLBACK");
            Err(error)
        }
    }
}

/// The statements for the database itself, as a server runs them.
pub(super) fn script(backend: &Backend, schema: &str, base: &str, root: &Path, data: &Path) -> String {
    statements(backend, &format!("{}.", types::quote(schema)), &absolute(base, root), data).join(";\n")
}

/// The path with its end, from the root of the file system, or as a URL.
fn absolute(path: &str, root: &Path) -> String {
    let path = if path.contains("://") { path.to_owned() } else { root.join(path).display().to_string() };
    if path.ends_with('/') { path } else { format!("{path}/") }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::absolute;

    #[test]
    fn paths_begin_at_the_root_and_end_as_folders() {
        let root = Path::new("/srv/it's");
        for (path, expected) in [
            ("files", "/srv/it's/files/"),
            ("files/", "/srv/it's/files/"),
            ("/data/lake", "/data/lake/"),
            ("s3://bucket/lake/", "s3://bucket/lake/"),
            ("s3://bucket/lake", "s3://bucket/lake/"),
        ] {
            assert_eq!(absolute(path, root), expected);
        }
    }
}
