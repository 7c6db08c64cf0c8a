//! The lake of a project, written to or looked at by "another tool".

use std::path::Path;
use std::sync::Arc;

use engine::{Connection, Database, ExtensionSearch, Pins};

use crate::Project;

/// A connection of its own to a project's SQLite lake, attached as `lake` and current.
pub struct Lake {
    /// The connection.
    pub connection: Connection,
}

impl Lake {
    /// Opens the lake by its absolute path, after the binary made it if it was not there yet.
    pub fn open(project: &Project) -> Self {
        project.run(&["sql", "SELECT 1"]).success();
        let connection = Arc::new(Database::open(&[("allow_unsigned_extensions", "true")]).unwrap()).connect().unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.engine/extensions");
        let search = ExtensionSearch { folders: vec![folder] };
        search.load(&connection, &["ducklake", "sqlite_scanner"], &Pins::read()).unwrap();
        let root = project.root().display().to_string();
        let attach = format!(
            "ATTACH 'ducklake:sqlite:{root}/ducklake.sqlite' AS lake (DATA_PATH '{root}/ducklake.sqlite.files', \
             OVERRIDE_DATA_PATH true, DATA_INLINING_ROW_LIMIT 0, META_JOURNAL_MODE 'WAL', META_BUSY_TIMEOUT 5000); USE lake"
        );
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
