//! An engine in memory with the macros of all shipped checks.

use std::sync::Arc;

use checks::{Call, Check, Stage, create_macros, query, shipped};
use engine::{Connection, Database, EngineError, Value};
use model::Written;

pub struct World {
    pub connection: Connection,
}

impl World {
    pub fn new() -> Self {
        let database = Arc::new(Database::open(&[]).unwrap());
        let world = Self { connection: database.connect().unwrap() };
        world.execute("SET TimeZone = 'UTC'");
        let all: Vec<&Check> = shipped().collect();
        for sql in create_macros(&all) {
            world.execute(&sql);
        }
        world
    }

    #[track_caller]
    pub fn execute(&self, sql: &str) {
        self.connection.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// The text of a query's last column, row by row.
    pub fn texts(&self, sql: &str) -> Result<Vec<String>, EngineError> {
        let text = |mut row: Vec<Value>| row.pop().and_then(Value::into_text).unwrap_or_default();
        Ok(self.connection.query(sql)?.into_values().map(text).collect())
    }

    /// The findings of a directive in a table.
    pub fn findings(&self, stage: Stage, directive: &str, table: &str) -> Result<Vec<String>, String> {
        let call = read(stage, directive)?;
        self.texts(&query([(0, &call)], table)).map_err(|error| error.cleaned())
    }

    /// The number of rows at fault, if they can be told.
    pub fn rows_at_fault(&self, stage: Stage, directive: &str, table: &str) -> Option<i64> {
        let rows = read(stage, directive).unwrap().rows(table)?;
        let sql = format!("SELECT count(*) FROM (SELECT * FROM {rows})");
        Some(self.connection.query_value(&sql).unwrap_or_else(|error| panic!("{sql}: {error}")).as_i64().unwrap())
    }
}

pub fn read(stage: Stage, directive: &str) -> Result<Call, String> {
    let written = Written { value: directive.to_owned(), span: 0..0 };
    Call::read(stage, &written, |_| None).map_err(|error| error.to_string())
}
