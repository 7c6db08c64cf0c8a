//! Queries: WITH, set operations, recursion.

use std::rc::Rc;

use serde_json::Value;

use super::Reader;
use super::scope::{Ctes, Scope};
use super::shape::{Column, Shape, add_tables, spread};
use super::sources::Sources;
use crate::nodes::{child, kind, list, query, text, texts};

impl Reader<'_> {
    /// The columns that a query node gives.
    pub(super) fn query(&self, node: &Value, ctes: &Ctes, outer: Option<&Scope<'_>>) -> Shape {
        if !self.step() {
            return Shape::unknown();
        }
        match self.with(node, ctes, outer) {
            Some(ctes) => self.body(node, &ctes, outer),
            None => self.body(node, ctes, outer),
        }
    }

    /// The scope that the node's WITH makes. Each query of it sees those before.
    fn with(&self, node: &Value, ctes: &Ctes, outer: Option<&Scope<'_>>) -> Option<Ctes> {
        let entries = child(node, "cte_map").map_or(&[][..], |ctes| list(ctes, "map"));
        let mut visible: Option<Ctes> = None;
        for entry in entries {
            let (Some(name), Some(value)) = (text(entry, "key"), child(entry, "value")) else { continue };
            let before = visible.as_ref().unwrap_or(ctes);
            let shape = match query(value, "query") {
                Some(node) => self.query(node, before, outer),
                None => Shape::unknown(),
            };
            let shape = shape.renamed(&texts(value, "aliases")).with_distinct_names();
            visible = Some(before.with(name, Rc::new(shape)));
        }
        visible
    }

    fn body(&self, node: &Value, ctes: &Ctes, outer: Option<&Scope<'_>>) -> Shape {
        match kind(node) {
            "SELECT_NODE" => self.select(node, ctes, outer),
            "SET_OPERATION_NODE" => {
                let (left, right) = (self.side(node, "left", ctes, outer), self.side(node, "right", ctes, outer));
                match text(node, "setop_type") {
                    Some("UNION_BY_NAME") => united_by_name(left, right),
                    _ => united(left, right),
                }
            }
            "RECURSIVE_CTE_NODE" => self.recursive(node, ctes, outer),
            "CTE_NODE" => {
                let shape = self.side(node, "query", ctes, outer).renamed(&texts(node, "aliases"));
                let name = text(node, "cte_name").unwrap_or_default();
                self.side(node, "child", &ctes.with(name, Rc::new(shape)), outer)
            }
            _ => Shape::unknown(),
        }
    }

    fn side(&self, node: &Value, key: &str, ctes: &Ctes, outer: Option<&Scope<'_>>) -> Shape {
        query(node, key).map_or_else(Shape::unknown, |side| self.query(side, ctes, outer))
    }

    /// A query that reads its own rows: sources flow from column to column until there are no new ones.
    fn recursive(&self, node: &Value, ctes: &Ctes, outer: Option<&Scope<'_>>) -> Shape {
        let Some(name) = text(node, "cte_name") else { return Shape::unknown() };
        let start = self.side(node, "left", ctes, outer).renamed(&texts(node, "aliases"));
        let mut all = start.clone();
        while self.step() {
            let visible = ctes.with(name, Rc::new(all.clone().with_distinct_names()));
            let next = united(start.clone(), self.side(node, "right", &visible, outer));
            if next == all {
                break;
            }
            all = next;
        }
        all
    }
}

/// Columns merged by position, with the names of the left.
fn united(left: Shape, right: Shape) -> Shape {
    let columns = united_columns(&left.columns, &right.columns);
    let mut shape = Shape { columns, tables: left.tables };
    add_tables(&mut shape.tables, right.tables);
    shape
}

fn united_columns(left: &[Column], right: &[Column]) -> Vec<Column> {
    let known = |columns: &[Column]| columns.iter().all(|column| !column.many);
    let zipped = if known(left) {
        spread(right, left.len()).map(|right| zip(left, &right))
    } else if known(right) {
        spread(left, right.len()).map(|left| zip(&left, right))
    } else {
        let runs = |columns: &[Column]| columns.iter().map(|column| column.many).collect::<Vec<_>>();
        // The one run on each side has the same width only if as many columns stand around it.
        let (left_runs, right_runs) = (runs(left), runs(right));
        let one = left_runs.iter().filter(|&&many| many).count() == 1;
        (one && left_runs == right_runs).then(|| zip(left, right))
    };
    // Which column goes with which is not known, so neither are the sources of any.
    zipped.unwrap_or_else(|| {
        let all = left.iter().chain(right).map(Column::possible).collect::<Sources>().unlisted();
        let one = |column: &Column| Column { sources: all.clone(), candidates: Vec::new(), ..column.clone() };
        left.iter().map(one).collect()
    })
}

fn zip(left: &[Column], right: &[Column]) -> Vec<Column> {
    let merge = |(left, right): (&Column, &Column)| {
        // Which candidates were chosen is not known.
        let known = left.candidates.is_empty() && right.candidates.is_empty();
        let sources: Sources = [left, right].map(Column::possible).into_iter().collect();
        let sources = if known { sources } else { sources.unlisted() };
        Column { name: left.name.clone(), sources, many: left.many, candidates: Vec::new() }
    };
    left.iter().zip(right).map(merge).collect()
}

/// Columns merged by name; those of the right alone come last.
fn united_by_name(left: Shape, right: Shape) -> Shape {
    let mut shape = left.with_distinct_names();
    let right = right.with_distinct_names();
    let open = shape.columns.iter().position(Column::is_open);
    for column in right.columns {
        let same = shape.columns.iter().position(|other| other.is_named(&column.name));
        match (same, open) {
            (Some(at), _) => shape.columns[at].sources.add(column.sources),
            // It may or may not be among the unknown ones.
            (None, Some(at)) => shape.columns[at].sources.add(column.possible().unlisted()),
            (None, None) => shape.columns.push(column),
        }
    }
    add_tables(&mut shape.tables, right.tables);
    shape
}
