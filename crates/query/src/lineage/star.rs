//! `*`, `t.*`, EXCLUDE, REPLACE, RENAME and `COLUMNS()`: which columns they stand for.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Reader;
use super::expression::Site;
use super::scope::{From, Relation, Scope};
use super::shape::Column;
use super::sources::{Sources, Step};
use crate::nodes::{child, class, flag, kind, list, text};

/// A column of a star, with the relation whose it is.
struct Item<'a> {
    relation: Option<&'a Relation>,
    column: Column,
}

impl Reader<'_> {
    /// The columns of a SELECT entry that is a star, or a star filtered by a pattern.
    pub(super) fn star_item(&self, item: &Value, scope: &Scope<'_>) -> Option<Vec<Column>> {
        let mut columns = match filtered_star(item) {
            Some(star) => choice(self.star(star, scope)),
            None if class(item) == "STAR" => self.star(item, scope),
            None => return None,
        };
        if let Some(alias) = text(item, "alias") {
            rename_all(&mut columns, alias);
        }
        Some(columns)
    }

    /// The columns of a star, `COLUMNS()` included.
    pub(super) fn star(&self, star: &Value, scope: &Scope<'_>) -> Vec<Column> {
        let relation = text(star, "relation_name");
        let items = match relation {
            Some(name) => match qualified(name, scope) {
                Some(items) => items,
                // The fields of a struct.
                None => return vec![Column::unknown(scope.resolve(&[name.to_owned()]).after(STRUCT_FIELD))],
            },
            None => all(scope.from, |relation, column| excluded(star, Some(relation), column)),
        };
        let columns = self.edited(star, items, scope);
        if child(star, "expr").is_some() { choice(columns) } else { columns }
    }

    /// Applies EXCLUDE, REPLACE and RENAME.
    fn edited(&self, star: &Value, items: Vec<Item<'_>>, scope: &Scope<'_>) -> Vec<Column> {
        let replacements = list(star, "replace_list").iter().filter_map(|entry| {
            let (name, expression) = (text(entry, "key")?, child(entry, "value")?);
            Some(Column::one(name, self.sources(expression, Site { scope, star: None })))
        });
        let replacements: Vec<Column> = replacements.collect();
        let mut columns = Vec::new();
        for Item { relation, mut column } in items {
            column.candidates.retain(|one| !excluded(star, relation, one));
            column.candidates.iter_mut().for_each(|one| edit(star, relation, one, &replacements));
            if column.is_open() && !replacements.is_empty() {
                // One of them may be replaced.
                column.sources = column.sources.unlisted();
            }
            if !excluded(star, relation, &column) {
                edit(star, relation, &mut column, &replacements);
                columns.push(column);
            }
        }
        columns
    }
}

const STRUCT_FIELD: Step<'static> = Step::Function("struct_extract");

/// The `COLUMNS()` in an expression that make it several, if there are any. `*COLUMNS()` does not, and a subquery's
/// are its own.
pub(super) fn columns_star(node: &Value) -> Option<&Value> {
    match node {
        Value::Array(items) => items.iter().find_map(columns_star),
        Value::Object(map) => match (class(node), kind(node)) {
            ("STAR", _) => flag(node, "columns").then_some(node),
            ("SUBQUERY", _) => child(node, "child").and_then(columns_star),
            (_, "OPERATOR_UNPACK") => None,
            _ => map.values().find_map(columns_star),
        },
        _ => None,
    }
}

/// The columns of a whole FROM.
pub(super) fn all_columns(from: &From) -> Vec<Column> {
    all(from, |_, _| false).into_iter().map(|item| item.column).collect()
}

/// The columns of a FROM but those left out. What is merged is left out only with all of its members.
fn all(from: &From, left_out: impl Fn(&Relation, &Column) -> bool) -> Vec<Item<'_>> {
    if from.unclear {
        return vec![Item { relation: None, column: Column::unknown(from.possible(|_| true)) }];
    }
    let mut items = Vec::new();
    let mut done = BTreeSet::new();
    for (at, relation) in from.relations.iter().enumerate() {
        for column in relation.columns.iter().filter(|column| !left_out(relation, column)) {
            let is_it = |merged: &super::scope::Merged| merged.members.contains(&at) && column.is_named(&merged.name);
            let mut column = column.clone();
            if let Some(number) = from.merged.iter().position(is_it) {
                let merged = &from.merged[number];
                if merged.hidden || !done.insert(number) {
                    continue;
                }
                column.sources = merged.sources.clone();
            }
            items.push(Item { relation: Some(relation), column });
        }
    }
    items
}

/// The columns of the relation of that name, here or around.
fn qualified<'a>(name: &str, scope: &Scope<'a>) -> Option<Vec<Item<'a>>> {
    let found = scope.from.relations.iter().find(|relation| relation.name.eq_ignore_ascii_case(name));
    let Some(relation) = found else {
        return scope.outer.and_then(|outer| qualified(name, outer));
    };
    let items = relation.columns.iter().map(|column| Item { relation: Some(relation), column: column.clone() });
    Some(items.collect())
}

/// Whether a name in EXCLUDE or RENAME, perhaps qualified, is this column.
fn names(qualified: &Value, relation: Option<&Relation>, column: &Column) -> bool {
    text(qualified, "column").is_some_and(|name| column.is_named(name))
        && text(qualified, "table")
            .is_none_or(|table| relation.is_some_and(|relation| relation.name.eq_ignore_ascii_case(table)))
}

fn excluded(star: &Value, relation: Option<&Relation>, column: &Column) -> bool {
    list(star, "exclude_list").iter().filter_map(Value::as_str).any(|name| column.is_named(name))
        || list(star, "qualified_exclude_list").iter().any(|name| names(name, relation, column))
}

/// Applies REPLACE and RENAME to one column.
fn edit(star: &Value, relation: Option<&Relation>, column: &mut Column, replacements: &[Column]) {
    if let Some(new) = replacements.iter().find(|new| column.is_named(&new.name)) {
        *column = new.clone();
        return;
    }
    let entries = list(star, "rename_list");
    let renamed = entries.iter().find(|entry| child(entry, "key").is_some_and(|key| names(key, relation, column)));
    if let Some(name) = renamed.and_then(|entry| text(entry, "value")) {
        name.clone_into(&mut column.name);
    }
}

/// The star in `* LIKE '…'` and the like: only there may a star stand before other arguments.
fn filtered_star(item: &Value) -> Option<&Value> {
    let call = if kind(item) == "OPERATOR_NOT" { list(item, "children").first()? } else { item };
    match list(call, "children") {
        [star, _, ..] if class(star) == "STAR" && !flag(star, "columns") => Some(star),
        _ => None,
    }
}

/// Some of these columns. Which ones is not worked out from the pattern or lambda: the names of the result tell.
pub(super) fn choice(columns: Vec<Column>) -> Vec<Column> {
    if columns.iter().any(|column| column.many) {
        return vec![Column::unknown(columns.iter().map(Column::possible).collect::<Sources>().unlisted())];
    }
    vec![Column { many: true, candidates: columns, ..Column::default() }]
}

/// Names all columns by an alias. One with references to the pattern's groups is left to the engine.
fn rename_all(columns: &mut [Column], alias: &str) {
    let alias = if alias.contains('\\') { "" } else { alias };
    for column in columns.iter_mut() {
        alias.clone_into(&mut column.name);
        column.candidates.iter_mut().for_each(|one| alias.clone_into(&mut one.name));
    }
}
