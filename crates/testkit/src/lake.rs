//! The lake of a project, written to or looked at by "another tool".

use std::path::Path;
use std::sync::Arc;

use engine::{Connection, Database, ExtensionSearch, Pins};

use crate::{Catalog, Project};

/// A connection of its own to a project's SQLite lake, attached as `lake` and current.
pub struct Lake {
    /// The connection.
    pub connection: Connection,
}

impl Lake {
    /// Opens the lake by its absolute path, after the binary made it if it was not there yet.
    pub fn open(project: &Project) -> Self {
        Self::open_inlining(project, 0)
    }

    /// The same; writes of at most so many rows go into the catalog itself.
    pub fn open_inlining(project: &Project, rows: usize) -> Self {
        project.run(&["sql", "SELECT 1"]).success();
        let connection = open_lake(Catalog::Sqlite, &project.root(), rows);
        connection.execute("USE lake").unwrap();
        Self { connection }
    }

    /// Opens a lake in PostgreSQL by its connection string.
    pub fn on_postgres(connection: &str, files: &Path) -> Self {
        let attach = format!(
            "ATTACH 'ducklake:postgres:{connection}' AS lake (DATA_PATH '{}', DATA_INLINING_ROW_LIMIT 0); USE lake",
            files.display()
        );
        let connection = engine_with(&["ducklake", "postgres_scanner"]);
        connection.execute(&attach).unwrap();
        Self { connection }
    }

    /// Runs statements.
    #[track_caller]
    pub fn execute(&self, sql: &str) {
        self.connection.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// The first value of a query as an integer.
    #[track_caller]
    pub fn number(&self, sql: &str) -> i64 {
        self.connection.query_value(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).as_i64().unwrap()
    }
}

/// An engine with the lake of a catalog in `folder`, attached as `lake`.
pub fn open_lake(catalog: Catalog, folder: &Path, inlined_rows: usize) -> Connection {
    let connection = engine_with(&["ducklake", "sqlite_scanner"]);
    let root = folder.display();
    let (path, options) = match catalog {
        Catalog::Sqlite => ("sqlite", ", META_JOURNAL_MODE 'WAL', META_BUSY_TIMEOUT 5000"),
        Catalog::Duckdb => ("duckdb", ""),
    };
    let attach = format!(
        "ATTACH 'ducklake:{path}:{root}/ducklake.{path}' AS lake (DATA_PATH '{root}/ducklake.{path}.files', \
         OVERRIDE_DATA_PATH true, DATA_INLINING_ROW_LIMIT {inlined_rows}{options})"
    );
    connection.execute(&attach).unwrap();
    connection
}

fn engine_with(extensions: &[&'static str]) -> Connection {
    let connection = Arc::new(Database::open(&[("allow_unsigned_extensions", "true")]).unwrap()).connect().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.engine/extensions");
    ExtensionSearch { folders: vec![folder] }.load(&connection, extensions, &Pins::read()).unwrap();
    connection
}
