//! PIVOT and UNPIVOT as a part of FROM.

use serde_json::Value;

use super::Reader;
use super::expression::Site;
use super::naming::name_of;
use super::scope::{Ctes, From, Scope};
use super::shape::{Column, Shape};
use super::sources::{Sources, Step};
use super::star::{all_columns, choice};
use crate::nodes::{child, class, kind, list, text, texts};

/// Columns that a PIVOT may make; more than that are not listed.
const COLUMNS_MAX: usize = 10_000;

impl Reader<'_> {
    pub(super) fn pivot(&self, node: &Value, ctes: &Ctes, outer: Option<&Scope<'_>>) -> Shape {
        let from = match child(node, "source") {
            Some(source) => self.from(source, ctes, outer),
            None => From::default(),
        };
        let scope = Scope { from: &from, aliases: &[], ctes, outer };
        let columns = if list(node, "unpivot_names").is_empty() {
            self.pivoted(node, &scope)
        } else {
            self.unpivoted(node, &scope)
        };
        Shape { columns, tables: from.tables }
    }

    /// Columns to rows: those left alone, the names, the values.
    fn unpivoted(&self, node: &Value, scope: &Scope<'_>) -> Vec<Column> {
        let value_names = texts(node, "unpivot_names");
        let mut values: Vec<Column> = value_names.iter().map(|name| Column::one(name, Sources::default())).collect();
        let mut used = Vec::new();
        let mut unclear = false;
        for entry in list(node, "pivots").iter().flat_map(|pivot| list(pivot, "entries")) {
            for (at, column) in self.unpivoted_columns(entry, scope, &mut used).into_iter().enumerate() {
                // One value column takes all; several take them in turn.
                let Some(at) = at.checked_rem(values.len()) else { continue };
                unclear |= !column.candidates.is_empty();
                values[at].sources.add(column.sources);
            }
        }
        let names = list(node, "pivots").iter().flat_map(|pivot| texts(pivot, "unpivot_names"));
        let names = names.map(|name| Column::one(name, Sources::default()));
        let mut columns = all_columns(scope.from);
        columns.retain(|column| !used.iter().any(|name| column.is_named(name)));
        if unclear {
            columns = choice(columns);
            for value in &mut values {
                value.sources = Sources::default();
            }
        }
        columns.into_iter().chain(names).chain(values).collect()
    }

    /// The columns that an entry of IN turns into rows; their names go to `used`.
    fn unpivoted_columns(&self, entry: &Value, scope: &Scope<'_>, used: &mut Vec<String>) -> Vec<Column> {
        let Some(expression) = child(entry, "star_expr") else {
            let names = list(entry, "values").iter().filter_map(|value| value["value"].as_str());
            let column = |name: &str| Column::one(name, scope.resolve(&[name.to_owned()]));
            let columns: Vec<Column> = names.map(column).collect();
            used.extend(columns.iter().map(|column| column.name.clone()));
            return columns;
        };
        if class(expression) == "STAR" {
            let columns = self.star(expression, scope);
            used.extend(columns.iter().map(|column| column.name.clone()));
            return columns;
        }
        references(expression, used);
        vec![Column::one("", self.sources(expression, Site { scope, star: None }))]
    }

    /// Rows to columns: the groups, then one column per value and aggregate.
    fn pivoted(&self, node: &Value, scope: &Scope<'_>) -> Vec<Column> {
        let pivots = list(node, "pivots");
        let aggregates = list(node, "aggregates");
        let by = pivots.iter().flat_map(|pivot| list(pivot, "pivot_expressions"));
        let mut used = Vec::new();
        by.clone().chain(aggregates).for_each(|expression| references(expression, &mut used));
        let groups = texts(node, "groups");
        let mut columns = all_columns(scope.from);
        columns.retain(|column| {
            if groups.is_empty() {
                !used.iter().any(|name| column.is_named(name))
            } else {
                column.is_open() || groups.iter().any(|name| column.is_named(name))
            }
        });
        let site = Site { scope, star: None };
        let chosen_by: Sources = by.map(|expression| self.sources(expression, site)).collect();
        let values: Option<Vec<String>> = combinations(pivots, aggregates.len());
        for value in values.iter().flatten() {
            for aggregate in aggregates {
                let mut sources = self.sources(aggregate, site);
                // The columns that choose the rows are to it what a FILTER is.
                let function = text(aggregate, "function_name").unwrap_or_default();
                sources.add(chosen_by.clone().after(Step::Aggregation(function)));
                let suffix = text(aggregate, "alias").is_some() || aggregates.len() > 1;
                let name = if suffix { format!("{value}_{}", name_of(aggregate)) } else { value.clone() };
                columns.push(Column::one(name, sources));
            }
        }
        if values.is_none() {
            columns.push(Column::unknown(Sources::default()));
        }
        columns
    }
}

/// The names of the columns in an expression.
fn references(node: &Value, names: &mut Vec<String>) {
    match node {
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        Value::Object(map) => {
            if kind(node) == "COLUMN_REF" {
                names.extend(texts(node, "column_names").pop());
            }
            map.values().for_each(|child| references(child, names));
        }
        _ => {}
    }
}

/// The names of all combinations of values, if they are all written.
fn combinations(pivots: &[Value], aggregates: usize) -> Option<Vec<String>> {
    let mut names: Vec<String> = vec![String::new()];
    for pivot in pivots {
        let entries = list(pivot, "entries");
        if entries.is_empty() || names.len() * entries.len() * aggregates.max(1) > COLUMNS_MAX {
            return None;
        }
        let values: Option<Vec<String>> = entries.iter().map(entry_name).collect();
        let values = values?;
        let with = |before: &String, value: &String| {
            if before.is_empty() { value.clone() } else { format!("{before}_{value}") }
        };
        names = names.iter().flat_map(|before| values.iter().map(move |value| with(before, value))).collect();
    }
    Some(names)
}

fn entry_name(entry: &Value) -> Option<String> {
    if child(entry, "star_expr").is_some() {
        return None;
    }
    if let Some(alias) = text(entry, "alias") {
        return Some(alias.to_owned());
    }
    let values = list(entry, "values");
    let written = |value: &Value| match &value["value"] {
        Value::String(text) => text.clone(),
        Value::Null => "NULL".to_owned(),
        other => other.to_string(),
    };
    (!values.is_empty()).then(|| values.iter().map(written).collect::<Vec<_>>().join("_"))
}
