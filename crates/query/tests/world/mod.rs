//! A small database, and lineage of queries over it as text.
#![allow(dead_code, clippy::unwrap_used)]

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use engine::{Connection, Database, EngineParser, Value};
use model::{SqlParser, SyntaxTree};
use query::{Catalog, Functions, Relation, column_lineage};
use serde_json::{Value as Json, json};
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

    pub fn functions(&self) -> &Functions {
        &self.functions
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

    /// The statement that a complete tree stands for.
    pub fn statement(&self, tree: &SyntaxTree) -> String {
        EngineParser(&self.connection).statement(tree).unwrap_or_else(|error| panic!("{error:?}"))
    }

    /// The first column of a query's rows, as text.
    pub fn texts(&self, sql: &str) -> Vec<String> {
        texts(&self.connection, sql)
    }

    /// Runs a statement.
    pub fn execute(&self, sql: &str) {
        self.connection.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
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

/// Queries that few would write.
pub const ODD: [&str; 44] = [
    "SELECT",
    "SELECT 1",
    "SELECT *",
    "SELECT t.*",
    "SELECT COLUMNS(*)",
    "SELECT COLUMNS('(') FROM t",
    "SELECT COLUMNS(1 + 1) FROM t",
    "SELECT COLUMNS('a') + COLUMNS('b') FROM t",
    "SELECT COLUMNS(COLUMNS(*)) FROM t",
    "SELECT COLUMNS(x -> COLUMNS(*)) FROM t",
    "SELECT list_transform(l, x -> x + COLUMNS(*)) FROM t",
    "SELECT * EXCLUDE (a, b, c, s, l) FROM t",
    "SELECT * REPLACE (COLUMNS(*) AS a) FROM t",
    "SELECT #0, #1, #18446744073709551615 FROM t",
    "SELECT $1, ?, $name",
    "SELECT a.b.c.d.e.f.g FROM t",
    "SELECT t.t.t.t.t FROM t AS t(t)",
    "SELECT \"\", \".\", \"a.b\" FROM t",
    "SELECT count(*), count(*) OVER (), count()",
    "SELECT sum() FROM t",
    "SELECT CASE WHEN a THEN b END IS NULL FROM t",
    "SELECT (SELECT a, b FROM t)",
    "SELECT (VALUES (1))",
    "SELECT EXISTS (VALUES (1)), EXISTS (SELECT * FROM unknown)",
    "SELECT x FROM (SELECT (SELECT x) AS x)",
    "SELECT a FROM t UNION SELECT a, b FROM t",
    "SELECT a, b FROM t UNION SELECT a FROM t",
    "SELECT * FROM t UNION ALL BY NAME SELECT * FROM unknown UNION ALL BY NAME SELECT 1, 1",
    "FROM t JOIN t USING (a) JOIN t USING (b) NATURAL JOIN t",
    "FROM t JOIN u USING (nothing)",
    "FROM unknown AS x(a, b, c) NATURAL JOIN unknown AS y(a)",
    "FROM t AS o(a, a, a, a, a, a, a, a, a)",
    "FROM (VALUES (1), (1, 2), ()) AS o(a, b, c, d)",
    "FROM t PIVOT (sum(a) FOR b IN (1, 2, 3) c IN (4, 5, 6) GROUP BY l)",
    "FROM t PIVOT (sum(a) FOR b IN ('x'))",
    "FROM unknown UNPIVOT (v FOR n IN (a, b))",
    "FROM t UNPIVOT (v FOR n IN (nothing))",
    "FROM t UNPIVOT ((v, o) FOR n IN ((a, b, c), (a)))",
    "FROM range(1) AS r, range(r.range), unnest([r]), f(x := r.range, y = r)",
    "FROM (DESCRIBE t)",
    "SUMMARIZE t",
    "SHOW TABLES",
    "WITH c(a, b, c) AS (SELECT 1) SELECT * FROM c, main.c, recurring.c",
    "SELECT [x FOR x IN l IF x > a][1:2], l[a:b], {'k': {'m': a}}.k.m, MAP {a: b}[a], a::INT[] FROM t",
];

/// Calls `see` for the tree with each of its parts missing or of another kind: what a newer engine may write.
pub fn damaged(tree: &SyntaxTree, mut see: impl FnMut(&SyntaxTree)) {
    for damage in [Json::Null, json!([]), json!("x")] {
        for at in 0..count(&tree.0) {
            let mut broken = tree.clone();
            replace(&mut broken.0, &mut at.clone(), &damage);
            see(&broken);
        }
    }
}

fn count(node: &Json) -> usize {
    1 + match node {
        Json::Array(items) => items.iter().map(count).sum(),
        Json::Object(map) => map.values().map(count).sum::<usize>(),
        _ => 0,
    }
}

/// Replaces the part number `at`, in tree order.
fn replace(node: &mut Json, at: &mut usize, damage: &Json) -> bool {
    if *at == 0 {
        *node = damage.clone();
        return true;
    }
    *at -= 1;
    match node {
        Json::Array(items) => items.iter_mut().any(|item| replace(item, at, damage)),
        Json::Object(map) => map.values_mut().any(|child| replace(child, at, damage)),
        _ => false,
    }
}
