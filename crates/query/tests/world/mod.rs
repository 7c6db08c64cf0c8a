//! A small database, and lineage of queries over it as text.
#![allow(dead_code, clippy::unwrap_used)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use engine::{Connection, Database, EngineParser, Value};
use model::{SqlParser, SyntaxTree};
use query::{Catalog, Functions, Relation, column_lineage};
use types::{ColumnLineage, literal};

const TABLES: [&str; 9] = [
    "CREATE TABLE t (a INT, b INT, c INT, s STRUCT(f INT, g INT), l INT[])",
    "CREATE TABLE u (a INT, x INT, d INT)",
    "CREATE TABLE w (a INT, b INT, z INT)",
    "CREATE TABLE j (doc JSON)",
    "CREATE SCHEMA raw",
    "CREATE TABLE raw.orders (id INT, amount INT, \"odd Name\" INT)",
    "CREATE VIEW v AS SELECT a, sum(b) AS total FROM t GROUP BY a",
    "CREATE VIEW vv(p, q) AS SELECT total + 1, a FROM v",
    "CREATE MACRO total(v) AS sum(v)",
];

pub struct World {
    connection: Connection,
    functions: Functions,
    relations: RefCell<HashMap<String, Relation>>,
}

impl World {
    pub fn new() -> Self {
        let database = Arc::new(Database::open(&[]).unwrap());
        let connection = database.connect().unwrap();
        for sql in TABLES {
            connection.execute(sql).unwrap();
        }
        let names = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'";
        let mut functions = Functions::default();
        functions.aggregates.extend(texts(&connection, names));
        functions.aggregates.insert("total".into());
        Self { connection, functions, relations: RefCell::default() }
    }

    /// The tree as the runtime reads it.
    pub fn tree(&self, sql: &str) -> SyntaxTree {
        EngineParser(&self.connection).trees(&[sql]).pop().unwrap().unwrap_or_else(|error| panic!("{sql}: {error:?}"))
    }

    /// The tree with every key, if there is one.
    pub fn full_tree(&self, sql: &str) -> Option<SyntaxTree> {
        let documents = texts(&self.connection, &format!("SELECT json_serialize_sql({})::VARCHAR", literal(sql)));
        SyntaxTree::from_document(&documents[0]).ok()
    }

    /// The names that the engine gives the query's columns.
    pub fn output(&self, sql: &str) -> Vec<String> {
        texts(&self.connection, &format!("SELECT column_name FROM (DESCRIBE {sql})"))
    }

    pub fn lineage(&self, sql: &str, output: &[String]) -> Vec<ColumnLineage> {
        column_lineage(&self.tree(sql), output, self, &self.functions)
    }

    pub fn lineage_of(&self, tree: &SyntaxTree, output: &[String]) -> Vec<ColumnLineage> {
        column_lineage(tree, output, self, &self.functions)
    }
}

impl Catalog for World {
    fn relation(&self, _: Option<&str>, schema: Option<&str>, name: &str) -> Relation {
        let written = schema.map_or_else(|| name.to_lowercase(), |schema| format!("{schema}.{name}").to_lowercase());
        let known = self.relations.borrow().get(&written).cloned();
        known.unwrap_or_else(|| {
            let relation = self.read(schema, name, &written);
            self.relations.borrow_mut().insert(written, relation.clone());
            relation
        })
    }
}

impl World {
    fn read(&self, schema: Option<&str>, name: &str, written: &str) -> Relation {
        let schema = literal(schema.unwrap_or("main"));
        let of = |kind: &str| {
            format!("WHERE lower(schema_name) = lower({schema}) AND lower({kind}_name) = lower({})", literal(name))
        };
        let columns = format!("SELECT column_name FROM duckdb_columns() {} ORDER BY column_index", of("table"));
        let columns = texts(&self.connection, &columns);
        let views = texts(&self.connection, &format!("SELECT sql FROM duckdb_views() {}", of("view")));
        match (views.first(), columns.is_empty()) {
            (Some(sql), _) => {
                let query = &sql[sql.find(" AS ").unwrap() + 4..].trim_end_matches([';', '\n']);
                Relation::View { name: written.to_owned(), columns, tree: self.tree(query) }
            }
            (None, false) => Relation::Table { name: written.to_owned(), columns },
            (None, true) => Relation::Unknown,
        }
    }
}

fn texts(connection: &Connection, sql: &str) -> Vec<String> {
    let rows = connection.query(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    let text = |row: Vec<Value>| match row.into_iter().next() {
        Some(Value::Text(text) | Value::Json(text)) => text,
        other => panic!("{other:?}"),
    };
    rows.into_values().map(text).collect()
}

/// `x: t.a | y: sum(t.b), CASE t.c`: IDENTITY is bare, a function is written as a call.
pub fn shown(lineage: &[ColumnLineage]) -> String {
    let columns = lineage.iter().map(|entry| format!("{}: {}", entry.column, sources(entry)).trim_end().to_owned());
    columns.collect::<Vec<_>>().join(" | ")
}

pub fn sources(entry: &ColumnLineage) -> String {
    let source = |source: &types::LineageSource| {
        let column = format!("{}.{}", source.table, source.column);
        let step = serde_json::to_value(source.transformation).unwrap().as_str().unwrap().to_owned();
        match (step.as_str(), &source.function) {
            ("IDENTITY", None) => column,
            (_, None) => format!("{step} {column}"),
            (_, Some(function)) => format!("{step} {function} {column}"),
        }
    };
    entry.sources.iter().map(source).collect::<Vec<_>>().join(", ")
}
